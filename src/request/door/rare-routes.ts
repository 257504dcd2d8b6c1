/* Code that few requests need, in one module that loads with the first of them. */
export { createHealthCheck } from './health-check.ts'
export { replyWithoutRoute } from './no-route.ts'
