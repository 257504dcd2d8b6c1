/* Code that few requests need. It is one module, which loads with the first of them. */
export { createHealthCheck } from './health-check.ts'
export { replyWithoutRoute } from './no-route.ts'
