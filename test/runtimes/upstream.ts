import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

/**
 * Starts a provider on loopback for openai-chat, and for non-streaming Converse. The start of the prompt determines the response. `forever` streams
 * until the client disconnects, and `never` sends nothing until then. `held` waits for `release` after the first chunk, and `broken` breaks off
 * there. `odd` returns an invalid HTTP status.
 */
export async function startUpstream() {
  let cut = Promise.withResolvers<void>()
  let cutsToCome = 1
  let open = 0
  let release = () => {}
  let signed: { path: string; headers: IncomingHttpHeaders; body: string } | undefined
  const server = createServer(async (req, res) => {
    let text = ''
    for await (const part of req.setEncoding('utf8')) text += part
    if (req.url?.endsWith('/converse')) {
      signed = { path: req.url, headers: req.headers, body: text }
      const response = {
        output: { message: { role: 'assistant', content: [{ text: 'Hello' }] } },
        stopReason: 'end_turn',
      }
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify({ ...response, usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }))
      return
    }
    const { stream, messages } = JSON.parse(text)
    const prompt: string = messages[0].content
    if (prompt === 'odd') {
      res.writeHead(777, { 'content-type': 'application/json' }).end('{"error":{"message":"odd"}}')
      return
    }
    const isNever = prompt.startsWith('never')
    if (isNever || (stream && prompt.startsWith('forever'))) {
      open += 1
      const extra = isNever ? undefined : streamForEver(res)
      res.on('close', () => {
        clearInterval(extra)
        cutsToCome -= 1
        open -= 1
        if (cutsToCome === 0) cut.resolve()
      })
      return
    }
    if (!stream) {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]
      res.setHeader('content-type', 'application/json')
      res.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }))
      return
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write(chunk({ role: 'assistant', content: 'Hel' }))
    if (prompt === 'broken') {
      setTimeout(() => res.destroy(), 50)
      return
    }
    if (prompt === 'held') await new Promise<void>((resolve) => (release = resolve))
    res.end(`${chunk({ content: 'lo' })}${chunk({}, 'stop')}data: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server's address is never a string
  return {
    url: `http://127.0.0.1:${port}/v1`,
    /** Settles when clients have canceled the next `count` streams. */
    nextCut(count = 1) {
      cut = Promise.withResolvers<void>()
      cutsToCome = count
      return cut.promise
    },
    /** The number of in-flight `forever` and `never` calls. */
    get open() {
      return open
    },
    /** The last Bedrock Converse call. */
    get signed() {
      return signed
    },
    /** Lets the `held` stream continue. */
    release: () => release(),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function streamForEver(res: ServerResponse): NodeJS.Timeout {
  res.writeHead(200, { 'content-type': 'text/event-stream' })
  res.write(chunk({ role: 'assistant', content: 'Hel' }))
  return setInterval(() => res.write(chunk({ content: '.' })), 5)
}
