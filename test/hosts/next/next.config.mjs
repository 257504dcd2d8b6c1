/** This folder contains both Next and the gateway's package. */
const root = process.env.REPOSITORY

export default { turbopack: { root } }
