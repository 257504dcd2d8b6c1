import type { IncomingMessage, ServerResponse } from 'node:http'
import { responses } from './events.ts'
import { startServer } from './server.ts'

/** The headers that a provider allows pages to send, and the header that Anthropic requires from pages. */
const ALLOWED = ['authorization', 'content-type']
const ALLOWED_BY_ANTHROPIC = ['anthropic-beta', 'anthropic-version', 'content-type', 'x-api-key']
const OPT_IN = 'anthropic-dangerous-direct-browser-access'

/**
 * Starts a provider with two formats that pages may call, with CORS rules as strict as real ones. After each chunk, its streams wait until a page
 * calls `/step`, except for the model `at-once`. The model `forever` streams until its client disconnects, `cut` breaks off after the first chunk,
 * and `moved` redirects.
 */
export async function startProvider() {
  const calls: string[] = []
  let left = Promise.withResolvers<void>()
  let step = Promise.withResolvers<void>()

  async function respond(req: IncomingMessage, res: ServerResponse) {
    let text = ''
    for await (const part of req.setEncoding('utf8')) text += part
    const { model, stream } = JSON.parse(text)
    calls.push(model)
    const { whole, parts, more } = req.url?.endsWith('/messages') ? responses.messages : responses.chat
    if (model === 'moved') return void res.writeHead(307, { location: '/step' }).end()
    if (!stream) return void res.setHeader('content-type', 'application/json').end(JSON.stringify(whole))
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(parts[0])
    if (model === 'forever') {
      const timer = setInterval(() => res.write(more), 5)
      res.on('close', () => {
        clearInterval(timer)
        left.resolve()
      })
      return
    }
    for (const part of parts.slice(1)) {
      if (model !== 'at-once') await step.promise
      step = Promise.withResolvers()
      if (model === 'cut') return void res.destroy()
      res.write(part)
    }
    res.end()
  }

  const server = await startServer((req, res) => {
    if (req.url === '/step') {
      res.setHeader('access-control-allow-origin', '*').end()
      return step.resolve()
    }
    const isAllowed = allow(req, res)
    if (req.method === 'OPTIONS' || !isAllowed) return void res.writeHead(isAllowed ? 204 : 403).end()
    if (req.url?.endsWith('/models')) return void res.end(JSON.stringify({ object: 'list', data: [{ id: 'at-once' }] }))
    return respond(req, res)
  })
  return {
    ...server,
    url: `http://127.0.0.1:${server.port}`,
    /** The models that were requested. */
    calls,
    /** Settles when a client cancels the next stream. */
    nextLeft() {
      left = Promise.withResolvers<void>()
      return left.promise
    },
  }
}

/** Sets the CORS headers. Returns `false` if the page may not call the provider. */
function allow({ url, method, headers }: IncomingMessage, res: ServerResponse): boolean {
  const isAnthropic = url?.endsWith('/messages')
  const requested = headers['access-control-request-headers']?.split(',') ?? []
  const allowed = isAnthropic ? [...ALLOWED_BY_ANTHROPIC, OPT_IN] : ALLOWED
  if (method === 'OPTIONS' && requested.some((name) => !allowed.includes(name))) return false
  if (isAnthropic && !(method === 'OPTIONS' ? requested.includes(OPT_IN) : headers[OPT_IN] === 'true')) return false
  res.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', allowed.join())
  return true
}
