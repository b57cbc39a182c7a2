// The page: camera, clock, controls and keys.

const $ = (id) => document.getElementById(id);
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);

// Upright on a phone: cards above each other, as in replay.css.
const narrow = matchMedia("(max-width: 640px)");

// Distance from which the whole box of the motion fits into the parts `room` of the view's width and height, looking
// against `direction`.
function fitDistance(motion, camera, direction, room) {
  const tall = Math.tan((camera.fov * Math.PI) / 360), wide = tall * camera.aspect;
  const right = new THREE.Vector3().crossVectors(Z, direction).normalize();
  const up = new THREE.Vector3().crossVectors(direction, right), corner = new THREE.Vector3();
  let distance = 0;
  for (let i = 0; i < 8; i++) {
    corner.set(...["x", "y", "z"].map((axis, bit) => (i & (1 << bit) ? motion.high : motion.low)[axis]));
    corner.sub(motion.center);
    const reach = Math.max(Math.abs(corner.dot(right)) / (wide * room[0]), Math.abs(corner.dot(up)) / (tall * room[1]));
    distance = Math.max(distance, corner.dot(direction) + 1.12 * reach);
  }
  return distance;
}

function createCamera(motion, canvas) {
  const camera = new THREE.PerspectiveCamera(32, 1, 0.01 * motion.span, 60 * motion.span);
  camera.up.copy(Z);
  const controls = new THREE.OrbitControls(camera, canvas);
  controls.enableDamping = true;
  controls.dampingFactor = 0.12;
  controls.maxDistance = 12 * motion.span;
  const blocked = motion.fixtures.some((each) => each.kind === "half_space" && each.normal[0] < -0.5);
  const directions = {
    start: [0, -1, 0.12], front: [0, -1, 0], side: [blocked ? -1 : 1, 0, 0], top: [0, -1e-4, 1], free: [-0.55, -1, 0.42],
  };
  let view = motion.view, room = [1, 1];
  function look(name) {
    view = name;
    const direction = new THREE.Vector3(...directions[name]).normalize();
    controls.target.copy(motion.center);
    camera.position.copy(motion.center).addScaledVector(direction, fitDistance(motion, camera, direction, room));
    controls.update();
    document.querySelectorAll("[data-view]").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.view === view));
    });
  }
  controls.addEventListener("start", () => { view = ""; });
  const resize = (width, height) => {
    // Where there is room, the motion stands between the two cards, on a phone below them, rather than behind them.
    const [left, right] = width < 1000 ? [0, 0] : [$("info").offsetWidth, $("options").offsetWidth];
    // Of a card that somebody unfolds, the motion gives way to half the view at most.
    const top = narrow.matches ? Math.min($("cards").offsetTop + $("cards").offsetHeight, height / 2) : 0;
    room = [1 - (left + right) / width, 1 - top / height];
    camera.aspect = width / Math.max(height, 1);
    camera.setViewOffset(width, height, (right - left) / 2, -top / 2, width, height);
    if (view) look(view);
  };
  return { camera, controls, look, resize, has: (name) => name in directions };
}

// The world axes in the corner of the view.
function drawTriad(canvas, camera) {
  const pen = canvas.getContext("2d"), back = camera.quaternion.clone().invert();
  pen.clearRect(0, 0, 144, 144);
  pen.lineWidth = 5;
  pen.lineCap = "round";
  pen.font = "600 24px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const axes = [["x", [1, 0, 0]], ["y", [0, 1, 0]], ["z", [0, 0, 1]]]
    .map(([name, axis], i) => ({ name, color: LOOK.axes[i], tip: new THREE.Vector3(...axis).applyQuaternion(back) }))
    .sort((a, b) => a.tip.z - b.tip.z);
  for (const { name, color, tip } of axes) {
    pen.strokeStyle = pen.fillStyle = color;
    pen.beginPath();
    pen.moveTo(72, 72);
    pen.lineTo(72 + 40 * tip.x, 72 - 40 * tip.y);
    pen.stroke();
    if (Math.hypot(tip.x, tip.y) > 0.25) pen.fillText(name, 72 + 58 * tip.x, 72 - 58 * tip.y);
  }
}

// Forces whose arrows are drawn as a scale: round ones, from the largest down by decades.
function keyForces({ low, largest }) {
  const round = (size) => Number(size.toPrecision(1)), first = round(largest);
  return [first, round(first / 10), round(first / 100)].filter((size, i) => i === 0 || size > 0.5 * low);
}

// Arrows of known forces, as long as they are in the middle of the view: the scale of the others.
function drawForceKey(canvas, forces, options, pixels) {
  const pen = canvas.getContext("2d"), { width, height } = canvas, row = 36;
  pen.clearRect(0, 0, width, height);
  canvas.hidden = !(forces.largest && options.contacts);
  pen.font = "24px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.lineWidth = 5;
  keyForces(forces).forEach((size, i) => {
    const long = 2 * pixels * options.scale * forces.length(size), y = height - row * (i + 0.5), end = width - 120;
    if (long > end || long < 14) return;
    pen.fillStyle = LOOK.soft;
    pen.fillText(`${size.toLocaleString("en", { maximumSignificantDigits: 3 })} N`, width, y);
    pen.strokeStyle = pen.fillStyle = LOOK.rest;
    pen.beginPath();
    pen.moveTo(end - long, y);
    pen.lineTo(end - 12, y);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(end, y);
    pen.lineTo(end - 14, y - 9);
    pen.lineTo(end - 14, y + 9);
    pen.fill();
  });
}

function drawTicks(canvas, motion) {
  const width = (canvas.width = canvas.clientWidth * devicePixelRatio), height = (canvas.height = 9 * devicePixelRatio);
  const pen = canvas.getContext("2d"), inset = 8 * devicePixelRatio, first = motion.times[0];
  pen.fillStyle = LOOK.impact;
  for (const frame of motion.impacts) {
    const part = (motion.times[frame] - first) / (motion.times[motion.frames - 1] - first || 1);
    pen.fillRect(inset + part * (width - 2 * inset) - devicePixelRatio, 0, 2 * devicePixelRatio, height);
  }
}

function fillInfo(data, motion) {
  const lasts = motion.times[motion.frames - 1] - motion.times[0];
  const count = (number, one, many) => `${number} ${number === 1 ? one : many}`;
  const parts = [count(data.bodies, "body", "bodies")];
  const shapes = motion.shapes.filter((each) => each.layer !== "collision").length;
  if (shapes !== data.bodies) parts.push(count(shapes, "shape", "shapes"));
  parts.push(count(motion.frames, "frame", "frames"), `${lasts.toPrecision(3)} s`);
  $("facts").textContent = parts.join(" \u00b7 ");
  for (const texts of data.summary) {
    const row = $("summary").querySelector("tbody").insertRow();
    ["th", "td"].forEach((tag, i) => { row.appendChild(document.createElement(tag)).textContent = texts[i]; });
  }
  $("summary").hidden = data.summary.length === 0;
  $("summary").open = innerWidth >= 1000;
  // Folded only where its heading can be seen and opened again.
  const fold = () => { $("drawn").open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();
  $("axes-switch").hidden = motion.axes.count === 0;
  $("collision-switch").hidden = ![...motion.shapes, ...motion.fixtures].some((each) => each.layer === "collision");
  $("forces").hidden = motion.contacts.length === 0;
  $("impact-keys").hidden = motion.impacts.length === 0;
  $("scale-note").textContent = `grid ${Number(gridStep(motion.span).toPrecision(3))} m`;
}

function createPlayer(motion, stage, changed) {
  const last = motion.frames - 1, state = { frame: 0, time: motion.times[0], playing: false, speed: 1, loop: false };
  const options = { contacts: true, trail: true, axes: false, collision: false, scale: 1 };
  const slack = 1e-6 * (motion.times[last] - motion.times[0]); // times are single precision
  function frameAt(time) {
    let low = 0, high = last;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (motion.times[middle] <= time + slack) low = middle; else high = middle - 1;
    }
    return low;
  }
  function show() {
    const { frame, time } = state, gap = frame < last ? motion.times[frame + 1] - motion.times[frame] : 0;
    const part = gap > 0 ? clamp((time - motion.times[frame]) / gap, 0, 1) : 0;
    stage.show(frame, part, state.playing ? 0.15 * state.speed : 0, options);
    changed(state);
  }
  function seek(frame) {
    state.frame = clamp(Math.round(frame) || 0, 0, last);
    state.time = motion.times[state.frame];
    show();
  }
  function goTo(time) {
    state.time = clamp(time, motion.times[0], motion.times[last]);
    state.frame = frameAt(state.time);
    show();
  }
  function play(on) {
    if (on && state.time >= motion.times[last]) seek(0);
    state.playing = on;
    show();
  }
  function advance(seconds) {
    const time = state.time + state.speed * Math.min(seconds, 0.1);
    if (time < motion.times[last]) return goTo(time);
    if (state.loop) return seek(0);
    seek(last);
    return play(false);
  }
  const jump = (ahead) => {
    const found = ahead ? motion.impacts.find((i) => i > state.frame)
      : motion.impacts.filter((i) => i < state.frame).pop();
    if (found !== undefined) seek(found);
  };
  return { state, options, show, seek, goTo, play, advance, jump };
}

function bindControls(player, view, motion) {
  const { state, options } = player;
  const toggle = (name) => { $(name).checked = options[name] = !options[name]; player.show(); };
  const pauseAt = (move) => { state.playing = false; move(); };
  const step = (count) => pauseAt(() => player.seek(state.frame + count));
  const slide = () => pauseAt(() => player.goTo(Number($("time").value)));
  $("play").onclick = () => player.play(!state.playing);
  $("back").onclick = () => step(-1);
  $("forward").onclick = () => step(1);
  $("time").oninput = slide;
  $("speed").onchange = () => { state.speed = Number($("speed").value); };
  $("loop").onchange = () => { state.loop = $("loop").checked; };
  for (const name of ["contacts", "trail", "axes", "collision"]) $(name).onchange = () => { options[name] = $(name).checked; player.show(); };
  const rescale = (factor) => { $("scale").value = Number($("scale").value) * factor; $("scale").oninput(); };
  $("scale").oninput = () => { options.scale = Number($("scale").value); player.show(); };
  document.querySelectorAll("[data-view]").forEach((button) => {
    button.onclick = () => view.look(button.dataset.view);
  });
  const keys = {
    " ": () => player.play(!state.playing), ArrowLeft: (event) => step(event.shiftKey ? -10 : -1),
    ArrowRight: (event) => step(event.shiftKey ? 10 : 1), Home: () => pauseAt(() => player.seek(0)),
    End: () => pauseAt(() => player.seek(motion.frames - 1)), n: () => pauseAt(() => player.jump(true)),
    p: () => pauseAt(() => player.jump(false)), c: () => toggle("contacts"), t: () => toggle("trail"), f: () => toggle("axes"),
    s: () => toggle("collision"),
    "[": () => rescale(0.8), "]": () => rescale(1.25),
    1: () => view.look("front"), 2: () => view.look("side"), 3: () => view.look("top"), 4: () => view.look("free"),
  };
  addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // The page's keys win over those of a focused button or slider, so that space always plays; a list keeps its own.
    if (!(key in keys) || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    event.preventDefault();
    keys[key](event);
  });
}
