export {
  AmbientLight, BoxGeometry, BufferAttribute, BufferGeometry, CanvasTexture, CapsuleGeometry, Color, ConeGeometry,
  CylinderGeometry, DirectionalLight, DoubleSide, EdgesGeometry, Fog, Group, HemisphereLight, InstancedMesh,
  LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshStandardMaterial, PCFShadowMap,
  PerspectiveCamera, PlaneGeometry, Quaternion, RepeatWrapping, Scene, SphereGeometry, SRGBColorSpace, Vector3,
  WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
export { Line2 } from "three/examples/jsm/lines/Line2.js";
export { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
export { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
