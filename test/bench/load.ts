import { Agent, type IncomingMessage, request } from 'node:http'

const messages = [{ role: 'user', content: 'Say something about foxes and dogs, in one sentence.' }]

/** The formats that are measured: where their requests go, what they say, and how their streams end. */
const formats = {
  chat: { path: '/v1/chat/completions', said: { max_tokens: 100, messages }, end: '[DONE]' },
  messages: { path: '/v1/messages', said: { max_tokens: 100, messages }, end: 'message_stop' },
  embeddings: { path: '/v1/embeddings', said: { input: 'The quick brown fox jumps over the lazy dog.' }, end: '}' },
} as const

export type BenchFormat = keyof typeof formats

export interface Load {
  url: string
  key: string
  /** The format of the clients. */
  format: BenchFormat
  /** With the prefix of its provider, or a combo. What the provider knows: `bench` answers at once, `slow` waits before each chunk. */
  model: string
  stream: boolean
  clients: number
  seconds: number
}

/** Milliseconds of each whole answer. */
export type Times = number[]

/** Clients that ask again as soon as they are answered, until the time is over. Throws on any answer but a whole 200. */
export async function run({ url, key, format, model, stream, clients, seconds }: Load): Promise<Times> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const { path, said, end } = formats[format]
  const body = JSON.stringify({ model, ...(format === 'embeddings' ? {} : { stream }), ...said })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'content-length': body.length }
  const times: Times = []
  const until = performance.now() + seconds * 1000

  async function client() {
    for (let start = performance.now(); start < until; start = performance.now()) {
      await ask(`${url}${path}`, { agent, headers, body, end: stream ? end : '}' })
      times.push(performance.now() - start)
    }
  }

  await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  return times
}

interface Ask {
  agent: Agent
  headers: Record<string, string | number>
  body: string
  end: string
}

function ask(url: string, { agent, headers, body, end }: Ask): Promise<void> {
  return new Promise((resolve, reject) => {
    const receive = (response: IncomingMessage) => {
      let last: Buffer = Buffer.alloc(0)
      response.on('data', (chunk: Buffer) => {
        last = chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200 && last.includes(end)) resolve()
        else reject(new Error(`${url} answered ${response.statusCode}: ${last.toString().slice(0, 300)}`))
      })
    }
    request(url, { method: 'POST', agent, headers }, receive).on('error', reject).end(body)
  })
}
