import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The phases in which a client may disconnect. A model is named `<phase>-<client number>`: the upstream proceeds to that phase, and then sends
 * nothing.
 */
export const phases = ['upload', 'headers', 'first-event', 'mid-answer', 'error-body', 'between'] as const

/** Each provider's accounts. Requests in the phase `between` fail with the first one. */
export const accounts = ['sk-first', 'sk-second'] as const

/** Starts a provider with both formats that never finishes a response, and tracks open calls. */
export async function startHangingUpstream() {
  const open = new Set<ServerResponse>()
  const moments = new Map<string, () => void>()
  const calls: Record<string, number> = {}
  let onIdle = () => {}

  const server = createServer(async (req, res) => {
    open.add(res)
    res.on('close', () => {
      open.delete(res)
      if (open.size === 0) onIdle()
    })
    let text = ''
    try {
      for await (const part of req.setEncoding('utf8')) text += part
    } catch {
      return // canceled during the upload
    }
    const { model, stream = false } = JSON.parse(text)
    const [, phase = '', client = ''] = /^(.*)-(\d+)$/.exec(model) ?? []
    const isFirst = (req.headers.authorization ?? String(req.headers['x-api-key'])).endsWith(accounts[0])
    const name = phase === 'between' && !isFirst ? 'second' : phase
    calls[name] = (calls[name] ?? 0) + 1
    hang(res, { phase: name, stream, isChat: req.url === '/v1/chat/completions' })
    // Of the clients that disconnect between two targets, half do so when the second one is called.
    const isMoment = phase !== 'between' || isFirst === (Number(client) % 2 === 0)
    if (isMoment) moments.get(model)?.()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server's address is never a string
  return {
    url: `http://127.0.0.1:${port}/v1`,
    /** The number of calls so far, by phase. */
    calls,
    get open() {
      return open.size
    },
    /** Calls `listener` when a call of the model has reached its phase. */
    onMoment: (model: string, listener: () => void) => void moments.set(model, listener),
    /** Settles when no call is open, or after `ms`. */
    idle: (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        onIdle = () => {
          clearTimeout(timer)
          resolve()
        }
        if (open.size === 0) onIdle()
      }),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function hang(res: ServerResponse, { phase, stream, isChat }: { phase: string; stream: boolean; isChat: boolean }) {
  const json = { 'content-type': 'application/json' }
  const head = () => res.writeHead(200, stream ? { 'content-type': 'text/event-stream' } : json).flushHeaders()
  if (phase === 'first-event') head()
  else if (phase === 'mid-answer') {
    head()
    if (!stream) return void res.write('{"id":"1",')
    res.write(isChat ? chunk('Hel') : message('Hel'))
    const extra = setInterval(() => res.write(isChat ? chunk('.') : delta('.')), 5)
    res.on('close', () => clearInterval(extra))
  } else if (phase === 'error-body') res.writeHead(500, json).write('{"error":')
  else if (phase === 'between') res.writeHead(500, json).end('{"error":{"message":"down"}}')
}

const chunk = (content: string) => event({ id: '1', choices: [{ index: 0, delta: { content }, finish_reason: null }] })

const delta = (text: string) =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 'content_block_delta')

const message = (text: string) =>
  event({ type: 'message_start', message: { id: '1', role: 'assistant', content: [] } }, 'message_start') + delta(text)

const event = (data: object, name?: string) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(data)}\n\n`
