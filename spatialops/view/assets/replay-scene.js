// The scene: what the motion looks like at one moment. SI units, world z up.

// Light or dark as the reader's system is; replay.css has the same two for the page.
const darkness = matchMedia("(prefers-color-scheme: dark)");
const LOOK = darkness.matches ? {
  background: "#12181f", floor: "#1b232d", fine: "#2a3542", heavy: "#4a596a", edge: "#0b0f14", sky: "#8b98a8",
  tendon: "#ff9d85", rest: "#2fc79a", impact: "#ff6aa8", axes: ["#ff8a5c", "#4fd08a", "#7aa7ff"], text: "#e6ecf3", soft: "#9fb0c2", line: "#2f3b49",
  curves: ["#6fb1ff", "#ffb454", "#4fd0a5", "#ff7fae", "#c3a6ff", "#e8dd6a", "#6fdcf0", "#b8c4d0"],
} : {
  background: "#edf1f6", floor: "#dde4ec", fine: "#c3ced9", heavy: "#97a6b6", edge: "#17212e", sky: "#aab4c2",
  tendon: "#b3261e", rest: "#00795a", impact: "#d01c6b", axes: ["#c2410c", "#15803d", "#1d4ed8"], text: "#17212e", soft: "#5b6b7d", line: "#d5dde6",
  curves: ["#1f5fa8", "#c96a00", "#00795a", "#d01c6b", "#6d4bb8", "#8a7a00", "#007f9c", "#57646f"],
};
const REST = new THREE.Color(LOOK.rest), IMPACT = new THREE.Color(LOOK.impact);
const Z = new THREE.Vector3(0, 0, 1);

function unpack(text, Type) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Type(bytes.buffer);
}

function readAxes(data, frames) {
  const [positions, quaternions] = data.axes.map((part) => unpack(part, Float32Array));
  return { positions, quaternions, count: positions.length / (3 * frames) };
}

function readMotion(data) {
  const times = unpack(data.times, Float32Array), counts = unpack(data.counts, Uint32Array);
  const contacts = unpack(data.contacts, Float32Array), offsets = new Uint32Array(counts.length + 1);
  counts.forEach((count, i) => { offsets[i + 1] = offsets[i] + count; });
  const impacts = [];
  for (let i = 0; i < counts.length; i++) {
    for (let k = offsets[i]; k < offsets[i + 1]; k++) {
      if (contacts[7 * k + 6] > 0) { impacts.push(i); break; }
    }
  }
  const [low, high] = data.bounds.map((corner) => new THREE.Vector3(...corner));
  return {
    times, contacts, offsets, impacts, low, high, view: data.view, shapes: data.shapes, fixtures: data.fixtures,
    positions: unpack(data.positions, Float32Array), quaternions: unpack(data.quaternions, Float32Array),
    axes: readAxes(data, times.length), lines: unpack(data.lines, Float32Array),
    curves: data.curves.map((each) => ({ ...each, values: unpack(each.values, Float32Array) })),
    frames: times.length, bodies: data.shapes.length, span: high.distanceTo(low),
    center: low.clone().add(high).multiplyScalar(0.5),
  };
}

// Alternating sectors of two tones make a rolling body's rotation visible.
function paintSectors(indexed, octants) {
  const geometry = indexed.index ? indexed.toNonIndexed() : indexed;
  const at = geometry.attributes.position, colors = new Float32Array(3 * at.count);
  for (let i = 0; i < at.count; i += 3) {
    const sum = (get) => get.call(at, i) + get.call(at, i + 1) + get.call(at, i + 2);
    const sign = sum(at.getX) * sum(at.getY) * (octants ? sum(at.getZ) : 1);
    colors.fill(sign > 0 ? 1 : 0.74, 3 * i, 3 * i + 9);
  }
  geometry.setAttribute("color", new THREE.BufferAttribute(colors, 3));
  return geometry;
}

function shapeGeometry(shape, detail) {
  if (shape.kind === "sphere") return paintSectors(new THREE.SphereGeometry(shape.radius, detail, detail / 2), true);
  if (shape.kind === "box") return new THREE.BoxGeometry(...shape.size);
  if (shape.kind === "mesh") return surfaceGeometry(shape);
  if (shape.kind === "ellipsoid") {
    return paintSectors(new THREE.SphereGeometry(1, detail, detail / 2).scale(...shape.semi_axes), true);
  }
  const upright = shape.kind === "capsule"
    ? new THREE.CapsuleGeometry(shape.radius, shape.length, detail / 4, detail)
    : new THREE.CylinderGeometry(shape.kind === "cone" ? 0 : shape.radius, shape.radius, shape.length, detail);
  return paintSectors(upright.rotateX(Math.PI / 2), false);
}

// Triangles that share no corners: each face is lit flat.
function surfaceGeometry(shape) {
  const corners = unpack(shape.vertices, Float32Array), faces = unpack(shape.faces, Uint32Array);
  const at = new Float32Array(3 * faces.length), geometry = new THREE.BufferGeometry();
  faces.forEach((corner, i) => { for (let j = 0; j < 3; j++) at[3 * i + j] = corners[3 * corner + j]; });
  geometry.setAttribute("position", new THREE.BufferAttribute(at, 3));
  geometry.computeVertexNormals();
  return geometry;
}

function edges(geometry, opacity) {
  const material = new THREE.LineBasicMaterial({ color: LOOK.edge, transparent: true, opacity });
  return new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 35), material);
}

function shapeMesh(shape, detail) {
  const geometry = shapeGeometry(shape, detail);
  const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({
    color: shape.color, roughness: 0.5, metalness: 0.05, vertexColors: "color" in geometry.attributes,
  }));
  mesh.castShadow = mesh.receiveShadow = true;
  // Edges of what a file draws would be drawn thrice over: its own colours tell its parts.
  const edged = ["box", "cylinder", "cone", "mesh"].includes(shape.kind) && shape.layer !== "visual";
  if (edged) mesh.add(edges(geometry, 0.45));
  return mesh;
}

// Shapes of a layer are shown one or the other; what is in both always.
function isShown(shape, options) {
  return (shape.layer || "both") === "both" || (shape.layer === "collision") === options.collision;
}

function gridStep(span) {
  const rough = span / 14, power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
}

function gridTexture(solid) {
  const canvas = document.createElement("canvas"), side = 640, pen = canvas.getContext("2d");
  canvas.width = canvas.height = side;
  if (solid) { pen.fillStyle = LOOK.floor; pen.fillRect(0, 0, side, side); }
  const line = (x, width, style) => {
    pen.fillStyle = style;
    for (const at of [x - width / 2, x - width / 2 + (x === 0 ? side : 0)]) {
      pen.fillRect(at, 0, width, side);
      pen.fillRect(0, at, side, width);
    }
  };
  for (let i = 1; i < 5; i++) line((i * side) / 5, 2, LOOK.fine);
  line(0, 5, LOOK.heavy);
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.anisotropy = 16;
  return texture;
}

// A wide floor with a grid whose heavy lines go through the world's origin; the fog hides where it ends.
function ground(motion, point, normal, solid) {
  const step = gridStep(motion.span), tile = 5 * step, tiles = 2 * Math.ceil((8 * motion.span) / tile);
  const texture = gridTexture(solid);
  texture.repeat.set(tiles, tiles);
  const mesh = new THREE.Mesh(
    new THREE.PlaneGeometry(tiles * tile, tiles * tile),
    solid ? new THREE.MeshStandardMaterial({ map: texture, roughness: 1, side: THREE.DoubleSide })
      : new THREE.MeshBasicMaterial({ map: texture, transparent: true, depthWrite: false, side: THREE.DoubleSide }),
  );
  const snap = (x) => Math.round(x / tile) * tile, center = motion.center;
  const at = new THREE.Vector3(snap(center.x), snap(center.y), 0);
  at.z = point.z - ((at.x - point.x) * normal.x + (at.y - point.y) * normal.y) / normal.z;
  mesh.position.copy(at);
  mesh.quaternion.setFromUnitVectors(Z, normal);
  mesh.receiveShadow = true;
  return mesh;
}

// A wall is drawn as a glass slab behind its surface, no larger than the motion needs.
function wall(motion, fixture, point, normal, floor) {
  const across = Math.abs(normal.z) > 0.9 ? new THREE.Vector3(1, 0, 0) : Z.clone().cross(normal).normalize();
  const up = normal.clone().cross(across).normalize(), pad = 0.08 * motion.span, thickness = 0.015 * motion.span;
  const origin = motion.center.clone().addScaledVector(normal, normal.dot(point) - normal.dot(motion.center));
  const { low, high } = motion, half = high.clone().sub(low).multiplyScalar(0.5);
  const extent = (axis) => Math.abs(axis.x) * half.x + Math.abs(axis.y) * half.y + Math.abs(axis.z) * half.z;
  const width = Math.max(extent(across) + pad, 0.22 * motion.span), height = extent(up) + pad;
  const bottom = floor && up.z > 0.7 ? Math.max(-height, (floor.z - origin.z) / up.z + 0.003 * motion.span) : -height;
  const geometry = new THREE.BoxGeometry(2 * width, Math.max(height - bottom, pad), thickness);
  const slab = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({
    color: fixture.color, transparent: true, opacity: 0.38, roughness: 0.8, depthWrite: false,
  }));
  slab.add(edges(geometry, 0.6));
  slab.setRotationFromMatrix(new THREE.Matrix4().makeBasis(across, up, normal));
  slab.position.copy(origin).addScaledVector(up, (height + bottom) / 2).addScaledVector(normal, -thickness / 2);
  return slab;
}

function addScenery(scene, motion, detail) {
  const planes = motion.fixtures.filter((fixture) => fixture.kind === "half_space").map((fixture) => ({
    fixture, point: new THREE.Vector3(...fixture.point), normal: new THREE.Vector3(...fixture.normal),
  }));
  const isFloor = (plane) => plane.normal.z > 0.7, floor = planes.find(isFloor);
  for (const plane of planes) {
    scene.add(isFloor(plane) ? ground(motion, plane.point, plane.normal, true)
      : wall(motion, plane.fixture, plane.point, plane.normal, floor && floor.point));
  }
  if (!floor) scene.add(ground(motion, motion.low, Z, false));
  const still = [];
  for (const fixture of motion.fixtures.filter((each) => each.kind !== "half_space")) {
    const mesh = shapeMesh(fixture, detail);
    mesh.position.set(...fixture.position);
    mesh.quaternion.set(...fixture.quaternion);
    scene.add(mesh);
    still.push([mesh, fixture]);
  }
  return still;
}

function addLights(scene, motion) {
  const sun = new THREE.DirectionalLight("#fff6ea", 2.3), reach = 0.75 * motion.span;
  sun.position.copy(motion.center).add(new THREE.Vector3(-0.45, -0.8, 1.2).multiplyScalar(1.5 * motion.span));
  sun.target.position.copy(motion.center);
  sun.castShadow = true;
  sun.shadow.mapSize.set(2048, 2048);
  sun.shadow.normalBias = 0.004 * motion.span;
  Object.assign(sun.shadow.camera, {
    left: -reach, right: reach, top: reach, bottom: -reach, near: 0.5 * motion.span, far: 5 * motion.span,
  });
  const sky = new THREE.HemisphereLight("#ffffff", LOOK.sky, 1.75);
  sky.position.set(0, 0, 1);
  scene.add(sun, sun.target, sky);
}
