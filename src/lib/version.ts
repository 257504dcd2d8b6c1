/** The version in package.json, repeated here because the core can't read files. */
export const VERSION = '0.1.0'
