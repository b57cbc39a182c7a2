// Start: read the data, build the page, run the clock.

const HIDDEN_ON_FAILURE = ["options", "dock", "triad", "scale-note", "force-key"];

function start(data) {
  const motion = readMotion(data);
  fillInfo(data, motion);
  // Tests and other pages drive the replay through this object.
  window.replay = { frames: motion.frames, time: motion.times[0], frame: 0, seek() {}, ready: false };
  document.body.dataset.frames = motion.frames;
  const renderer = new THREE.WebGLRenderer({ canvas: $("scene"), antialias: true });
  renderer.shadowMap.enabled = true;
  renderer.shadowMap.type = THREE.PCFShadowMap;
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  const stage = createScene(motion), view = createCamera(motion, $("scene"));
  const limit = motion.times[motion.frames - 1];
  let dirty = true;
  const player = createPlayer(motion, stage, (state) => {
    dirty = true;
    document.body.dataset.playing = state.playing;
    $("play").setAttribute("aria-label", state.playing ? "Pause" : "Play");
    $("time").value = state.time;
    $("clock").innerHTML = `${state.time.toFixed(3)} s <small>of ${limit.toFixed(3)} s \u00b7 frame ${state.frame + 1}</small>`;
    Object.assign(window.replay, { time: state.time, frame: state.frame });
  });
  Object.assign($("time"), { min: motion.times[0], max: limit });
  if (stage.forces.largest) {
    const largest = stage.forces.largest.toLocaleString("en", { maximumSignificantDigits: 3 });
    $("force-note").textContent = `log scale, largest ${largest} N`;
  }
  const curves = createCurves(motion, (time) => { player.state.playing = false; player.goTo(time); });
  bindControls(player, view, motion);
  const resize = () => {
    const { clientWidth: width, clientHeight: height } = $("viewport");
    renderer.setSize(width, height, false);
    view.resize(width, height);
    drawTicks($("ticks"), motion);
    dirty = true;
  };
  const followHash = () => {
    const wanted = new URLSearchParams(location.hash.slice(1)), time = parseFloat(wanted.get("t"));
    if (view.has(wanted.get("view"))) view.look(wanted.get("view"));
    player.state.playing = false;
    if (Number.isFinite(time)) player.goTo(time); else player.show();
  };
  const draw = () => {
    const distance = view.camera.position.distanceTo(view.controls.target);
    Object.assign(stage.scene.fog, { near: distance + 1.2 * motion.span, far: distance + 6 * motion.span });
    renderer.render(stage.scene, view.camera);
    drawTriad($("triad"), view.camera);
    const pixels = $("viewport").clientHeight / (2 * Math.tan((view.camera.fov * Math.PI) / 360) * distance);
    drawForceKey($("force-key"), stage.forces, player.options, pixels);
    curves.draw(player.state.time, player.state.frame);
    dirty = false;
  };
  resize();
  followHash();
  draw();
  watchGraphics(renderer, draw);
  new ResizeObserver(resize).observe($("viewport"));
  addEventListener("hashchange", followHash);
  darkness.addEventListener("change", () => {
    history.replaceState(null, "", `#t=${player.state.time}`);
    location.reload();
  });
  let before = performance.now();
  const tick = (now) => {
    if (player.state.playing) player.advance((now - before) / 1000);
    before = now;
    // A still picture costs nothing: only changes are drawn.
    if (view.controls.update() || dirty) draw();
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  Object.assign(window.replay, {
    ready: true, seek: (frame) => { player.seek(frame); draw(); }, play: () => player.play(true),
    pause: () => player.play(false),
  });
  document.body.dataset.ready = "true";
}

// What a person reads in place of the view. The page's own text is about WebGL.
function sayFailure(message) {
  document.body.dataset.error = message;
  if (!/webgl/i.test(message)) {
    $("failure").querySelector("h2").textContent = "This replay could not start";
    $("failure").querySelector("p").textContent = message;
  }
  for (const id of HIDDEN_ON_FAILURE) $(id).hidden = true;
  $("failure").hidden = false;
}

// A browser may take the graphics away (a sleeping phone, a restarted driver) and give them back; three.js draws on then.
function watchGraphics(renderer, draw) {
  renderer.domElement.addEventListener("webglcontextlost", () => sayFailure("the WebGL context was lost"));
  renderer.domElement.addEventListener("webglcontextrestored", () => {
    delete document.body.dataset.error;
    for (const id of HIDDEN_ON_FAILURE) $(id).hidden = false;
    $("failure").hidden = true;
    draw();
  });
}

const data = JSON.parse($("replay-data").textContent);
document.title = data.title;
try {
  start(data);
} catch (error) {
  console.error(error);
  sayFailure(String(error && error.message));
}
