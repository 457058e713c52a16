declare module "workerd" {
  const exports: {
    /** Path of the binary. */
    default: string;
  };
  export default exports;
}
