// Curves over time above the slider: readings of sensors, contact forces, energies.

const MARGIN = 1.06; // what the axis shows, as a multiple of the curves' range
const BAND = 14; // pixels above and below the curves, for the ends of the axis

function createCurves(motion, goTo) {
  const canvas = $("curves"), { times, frames } = motion, first = times[0], last = times[frames - 1];
  let chosen = null;
  function short(x) {
    if (!Number.isFinite(x)) return "\u2013";
    if (x !== 0 && (Math.abs(x) < 1e-4 || Math.abs(x) >= 1e6)) return x.toExponential(2);
    return x.toLocaleString("en", { maximumSignificantDigits: 4 });
  }

  const told = (unit) => unit.replaceAll("^2", "\u00b2");

  function range({ values }) {
    let low = Infinity, high = -Infinity;
    for (const x of values) {
      if (x < low) low = x;
      if (x > high) high = x;
    }
    if (!(high >= low)) return [-1, 1];
    const middle = (low + high) / 2, half = (MARGIN * (high - low)) / 2 || 0.1 * Math.abs(middle) || 1;
    return [middle - half, middle + half];
  }

  function choose(curves) {
    chosen = curves && { ...curves, range: range(curves) };
    $("plot").hidden = !chosen;
    $("readings").replaceChildren();
    for (const [i, label] of (chosen ? chosen.labels : []).entries()) {
      const item = $("readings").appendChild(document.createElement("li"));
      item.appendChild(document.createElement("i")).style.background = LOOK.curves[i % LOOK.curves.length];
      item.append(`${label} `);
      item.appendChild(document.createElement("b"));
    }
  }

  function drawAxis(pen, width, height, at) {
    const [low, high] = chosen.range;
    pen.fillStyle = LOOK.line;
    if (low < 0 && high > 0) pen.fillRect(0, at(0), width, devicePixelRatio);
    pen.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    pen.fillStyle = LOOK.soft;
    pen.textBaseline = "top";
    pen.fillText(`${short(high)} ${told(chosen.unit)}`, 8 * devicePixelRatio, 0);
    pen.textBaseline = "bottom";
    pen.fillText(`${short(low)} ${told(chosen.unit)}`, 8 * devicePixelRatio, height);
  }

  function draw(time, frame) {
    if (!chosen) return;
    const width = (canvas.width = canvas.clientWidth * devicePixelRatio);
    const height = (canvas.height = canvas.clientHeight * devicePixelRatio);
    const pen = canvas.getContext("2d"), inset = 8 * devicePixelRatio, [low, high] = chosen.range;
    const count = chosen.labels.length, span = last - first || 1;
    const along = (t) => inset + ((t - first) / span) * (width - 2 * inset), band = BAND * devicePixelRatio;
    const at = (x) => band + (height - 2 * band) * (1 - (x - low) / (high - low));
    drawAxis(pen, width, height, at);
    pen.lineWidth = 1.5 * devicePixelRatio;
    for (let i = 0; i < count; i++) {
      pen.strokeStyle = LOOK.curves[i % LOOK.curves.length];
      pen.beginPath();
      let drawn = false;
      for (let f = 0; f < frames; f++) {
        const x = chosen.values[f * count + i];
        if (!Number.isFinite(x)) drawn = false;
        else if (drawn) pen.lineTo(along(times[f]), at(x));
        else { pen.moveTo(along(times[f]), at(x)); drawn = true; }
      }
      pen.stroke();
    }
    pen.fillStyle = LOOK.text;
    pen.fillRect(along(time) - devicePixelRatio / 2, 0, devicePixelRatio, height);
    [...$("readings").querySelectorAll("b")].forEach((cell, i) => { cell.textContent = short(chosen.values[frame * count + i]); });
  }

  const list = $("plotted");
  motion.curves.forEach((curves, i) => {
    list.add(new Option(curves.unit ? `${curves.name} [${told(curves.unit)}]` : curves.name, String(i)));
  });
  $("plot-choice").hidden = motion.curves.length === 0;
  list.onchange = () => choose(list.value === "" ? null : motion.curves[Number(list.value)]);
  const seek = (event) => {
    if (!event.buttons) return;
    const { left, width } = canvas.getBoundingClientRect();
    goTo(first + ((event.clientX - left - 8) / (width - 16)) * (last - first));
  };
  canvas.onpointerdown = (event) => { canvas.setPointerCapture(event.pointerId); seek(event); };
  canvas.onpointermove = seek;
  // Opened by itself where there is room for it.
  if (motion.curves.length && innerHeight >= 700 && !narrow.matches) {
    list.value = "0";
    list.onchange();
  }
  return { draw };
}
