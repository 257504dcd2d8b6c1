/** Below this folder are both Next and the package of the gateway. */
const root = process.env.REPOSITORY

export default { turbopack: { root } }
