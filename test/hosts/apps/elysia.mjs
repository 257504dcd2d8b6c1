// The argument is the Node adapter's package. Without it, the app runs on Bun.
import { Elysia } from 'elysia'
import { gateway } from './gateway.mjs'

const adapter = process.argv[2] ? (await import(process.argv[2])).node() : undefined
new Elysia({ ...(adapter && { adapter }) })
  .all('/ai/*', ({ request }) => gateway.fetch(request), { parse: 'none' })
  .post('/own', ({ body }) => body)
  .onError(({ code, set }) => {
    if (code !== 'NOT_FOUND') return
    set.status = 404
    return { error: 'the app' }
  })
  .listen({ port: 0, hostname: '127.0.0.1' }, async ({ url, raw }) => {
    await raw?.ready() // the adapter's callback runs before the server has a port
    console.log(new URL(raw?.url ?? url).origin)
  })
