/* Code that few requests need, in one lazy-loaded module. */
export { createHealthCheck } from './health-check.ts'
export { replyWithoutRoute } from './no-route.ts'
