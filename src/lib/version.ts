/** The version in package.json, which the core cannot read: it has no file system. */
export const VERSION = '0.1.0'
