/** The version in package.json. It is repeated here because the core cannot read files. */
export const VERSION = '0.1.0'
