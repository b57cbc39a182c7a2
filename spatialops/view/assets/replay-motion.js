// What moves: bodies, contact arrows and the trail.

// Forces span decades, so lengths grow with the logarithm, from a third of the full length at a low percentile of all
// forces to the full length at a high one; weaker forces shrink in proportion.
function forceScale(motion) {
  const sizes = [];
  for (let k = 0; k < motion.contacts.length; k += 7) {
    const size = Math.hypot(motion.contacts[k + 3], motion.contacts[k + 4], motion.contacts[k + 5]);
    if (size > 0) sizes.push(size);
  }
  sizes.sort((a, b) => a - b);
  const quantile = (q) => sizes[Math.floor(q * (sizes.length - 1))] || 1;
  const high = quantile(0.95), low = Math.min(Math.max(quantile(0.05), 1e-4 * high), 0.1 * high);
  const share = (size) => (size < low ? size / low / 3 : (1 + (2 * Math.log(size / low)) / Math.log(high / low)) / 3);
  const length = (size) => 0.12 * motion.span * Math.min(share(size), 1.3);
  return { length, low, high, largest: sizes.length ? sizes[sizes.length - 1] : 0 };
}

function createArrows(scene, motion) {
  const capacity = Math.max(1, Math.min(motion.contacts.length / 7, 4096)), thick = 0.0045 * motion.span;
  const part = (geometry) => {
    // Forces act into the bodies, so arrows are drawn over everything else.
    const mesh = new THREE.InstancedMesh(
      geometry, new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, fog: false }), capacity);
    mesh.frustumCulled = false;
    mesh.renderOrder = 10;
    scene.add(mesh);
    return mesh;
  };
  const shaft = part(new THREE.CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2).translate(0, 0, 0.5));
  const head = part(new THREE.ConeGeometry(1, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5));
  const forces = forceScale(motion), { length } = forces, matrix = new THREE.Matrix4(), turn = new THREE.Quaternion();
  const start = new THREE.Vector3(), force = new THREE.Vector3(), stretch = new THREE.Vector3();
  let used = 0;

  function place(k, scale, fade) {
    force.fromArray(motion.contacts, 7 * k + 3);
    const total = scale * length(force.length()), width = thick * Math.sqrt(scale) * fade;
    if (used >= capacity || total < 1e-6 * motion.span) return;
    const cone = Math.min(5.5 * width, 0.6 * total), color = motion.contacts[7 * k + 6] > 0 ? IMPACT : REST;
    turn.setFromUnitVectors(Z, force.normalize());
    start.fromArray(motion.contacts, 7 * k);
    shaft.setMatrixAt(used, matrix.compose(start, turn, stretch.set(width, width, total - 0.9 * cone)));
    start.addScaledVector(force, total - cone);
    head.setMatrixAt(used, matrix.compose(start, turn, stretch.set(2.1 * width, 2.1 * width, cone)));
    shaft.setColorAt(used, color);
    head.setColorAt(used, color);
    used += 1;
  }

  // An impact lasts one frame; while playing it is held for `hold` seconds, thinning out, so that it can be seen.
  function show(frame, hold, options) {
    const { times, offsets, contacts } = motion;
    used = 0;
    if (options.contacts) {
      for (let k = offsets[frame]; k < offsets[frame + 1]; k++) place(k, options.scale, 1);
      for (let i = frame - 1; i >= 0 && times[frame] - times[i] < hold; i--) {
        const fade = 1 - (times[frame] - times[i]) / hold;
        for (let k = offsets[i]; k < offsets[i + 1]; k++) {
          if (contacts[7 * k + 6] > 0) place(k, options.scale, fade);
        }
      }
    }
    for (const mesh of [shaft, head]) {
      mesh.count = used;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }
  return { show, forces };
}

// The axes of every body's own frame: x, y and z in the colours of the corner.
function createAxes(scene, motion) {
  const { count, positions, quaternions } = motion.axes, size = 0.045 * motion.span;
  const lines = new THREE.Group(), ends = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(
    new Float32Array(ends.flatMap((end) => [0, 0, 0, ...end.map((x) => x * size)])), 3));
  const colors = LOOK.axes.flatMap((name) => { const { r, g, b } = new THREE.Color(name); return [r, g, b, r, g, b]; });
  geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(colors), 3));
  const material = new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true, fog: false });
  for (let i = 0; i < count; i++) lines.add(new THREE.LineSegments(geometry, material));
  lines.renderOrder = 9;
  scene.add(lines);
  return (place, shown) => {
    lines.visible = shown;
    if (shown) lines.children.forEach((line, i) => place(line, i, count, positions, quaternions));
  };
}

// Tendons: straight pieces between points that move with the bodies.
function createTendons(scene, motion) {
  const count = motion.lines.length / (6 * motion.frames), thick = 0.0025 * motion.span;
  if (!count) return () => {};
  const rods = new THREE.InstancedMesh(
    new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5),
    new THREE.MeshStandardMaterial({ color: LOOK.tendon, roughness: 0.6 }), count);
  rods.frustumCulled = false;
  rods.castShadow = true;
  scene.add(rods);
  const ends = [new THREE.Vector3(), new THREE.Vector3()], next = new THREE.Vector3();
  const matrix = new THREE.Matrix4(), turn = new THREE.Quaternion(), stretch = new THREE.Vector3();
  return (frame, part) => {
    for (let i = 0; i < count; i++) {
      ends.forEach((end, j) => {
        const at = 6 * (frame * count + i) + 3 * j;
        end.fromArray(motion.lines, at);
        if (part > 0) end.lerp(next.fromArray(motion.lines, at + 6 * count), part);
      });
      const along = ends[1].sub(ends[0]), length = along.length();
      turn.setFromUnitVectors(Z, length > 0 ? along.divideScalar(length) : along.copy(Z));
      rods.setMatrixAt(i, matrix.compose(ends[0], turn, stretch.set(thick, thick, length)));
    }
    rods.instanceMatrix.needsUpdate = true;
  };
}

function createTrail(scene, motion) {
  if (motion.frames < 2) return () => {};
  const path = [], last = motion.bodies - 1;
  for (let i = 0; i < motion.frames; i++) {
    const at = 3 * (i * motion.bodies + last);
    path.push(motion.positions[at], motion.positions[at + 1], motion.positions[at + 2]);
  }
  const geometry = new THREE.LineGeometry().setPositions(path);
  const color = motion.shapes[last].color;
  const line = new THREE.Line2(geometry, new THREE.LineMaterial({ color, linewidth: 2.5, transparent: true, opacity: 0.8 }));
  line.frustumCulled = false;
  scene.add(line);
  return (frame, shown) => {
    line.visible = shown && frame > 0;
    geometry.instanceCount = frame;
  };
}

function createScene(motion) {
  const scene = new THREE.Scene(), detail = motion.bodies > 60 ? 24 : 48;
  scene.background = new THREE.Color(LOOK.background);
  scene.fog = new THREE.Fog(LOOK.background, 1, 2);
  addLights(scene, motion);
  const still = addScenery(scene, motion, detail);
  const meshes = motion.shapes.map((shape) => shapeMesh(shape, detail));
  scene.add(...meshes);
  const trail = createTrail(scene, motion), arrows = createArrows(scene, motion), axes = createAxes(scene, motion);
  const tendons = createTendons(scene, motion);
  const nextPlace = new THREE.Vector3(), nextTurn = new THREE.Quaternion();

  // The pose `part` (0 to 1) of the way from one frame to the next.
  function show(frame, part, hold, options) {
    const place = (thing, i, count, positions, quaternions) => {
      const now = frame * count + i;
      thing.position.fromArray(positions, 3 * now);
      thing.quaternion.fromArray(quaternions, 4 * now);
      if (part > 0) {
        thing.position.lerp(nextPlace.fromArray(positions, 3 * (now + count)), part);
        thing.quaternion.slerp(nextTurn.fromArray(quaternions, 4 * (now + count)), part);
      }
    };
    meshes.forEach((mesh, i) => place(mesh, i, motion.bodies, motion.positions, motion.quaternions));
    meshes.forEach((mesh, i) => { mesh.visible = isShown(motion.shapes[i], options); });
    still.forEach(([mesh, fixture]) => { mesh.visible = isShown(fixture, options); });
    axes(place, options.axes);
    tendons(frame, part);
    trail(frame, options.trail);
    arrows.show(frame, hold, options);
  }
  return { scene, show, forces: arrows.forces };
}
