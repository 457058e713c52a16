import { createApp } from "./http/app.ts";

export { ActorObject } from "./actor/actor-object.ts";
export { RegistryObject } from "./registry/registry-object.ts";

export default createApp();
