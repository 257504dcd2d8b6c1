import { connect, type Socket } from 'node:net'
import { ResponseReader } from './response-reader.ts'
import { StampScanner } from './stamps.ts'

export interface Load {
  url: string
  path: string
  key: string
  /** Sent instead of the key. */
  cookie?: string | undefined
  body: string
  connections: number
  /** Connections stop sending requests after this time, in ms. */
  durationMs: number
  /** The maximum number of requests per connection. */
  requestsEach?: number
  /** The time over which the connections are opened one by one, in ms. */
  rampMs?: number
  /** The number of timestamped chunks that each response must contain. */
  chunks?: number
}

/** Percentiles in microseconds. */
export interface Percentiles {
  p50: number
  p99: number
}

export interface LoadResult {
  requests: number
  chunks: number
  seconds: number
  /** From sending a request to the end of its response. */
  latency: Percentiles
  /** From the provider writing a chunk to the client reading it. */
  lag: Percentiles
}

const nowUs = () => Number(process.hrtime.bigint()) / 1_000

/**
 * Sends requests over keep-alive connections, one at a time per connection. Uses raw sockets, because a `node:http` client takes more CPU time than
 * the gateway. Rejects if a response isn't a complete 200.
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = []
  const lags: number[] = []
  const { connections, rampMs = 0 } = load
  const start = performance.now()
  const run = async (index: number) => {
    if (rampMs > 0) await new Promise((resolve) => setTimeout(resolve, (index * rampMs) / connections))
    await runConnection(load, start + load.durationMs, { latencies, lags })
  }
  await Promise.all(Array.from({ length: connections }, (_, index) => run(index)))
  return {
    requests: latencies.length,
    chunks: lags.length,
    seconds: (performance.now() - start) / 1_000,
    latency: computePercentiles(latencies),
    lag: computePercentiles(lags),
  }
}

function runConnection(load: Load, until: number, into: { latencies: number[]; lags: number[] }): Promise<void> {
  const { hostname, port } = new URL(load.url)
  const head = [
    `POST ${load.path} HTTP/1.1`,
    `host: ${hostname}:${port}`,
    'content-type: application/json',
    load.cookie === undefined ? `authorization: Bearer ${load.key}` : `cookie: ${load.cookie}`,
    'anthropic-version: 2023-06-01',
    `content-length: ${Buffer.byteLength(load.body)}`,
  ]
  const request = `${head.join('\r\n')}\r\n\r\n${load.body}`
  const mostRequests = load.requestsEach ?? Number.POSITIVE_INFINITY
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true })
    let [sent, sentUs, chunks] = [0, 0, 0]
    let scanner = new StampScanner()
    const fail = (reason: string) => {
      socket.destroy()
      reject(new Error(`${load.url}${load.path}: ${reason}`))
    }
    const reader = new ResponseReader({
      onBody(piece) {
        if (load.chunks === undefined) return
        const readUs = nowUs()
        scanner.scan(piece, (stampUs) => {
          chunks++
          into.lags.push(readUs - stampUs)
        })
      },
      onEnd(status, text) {
        into.latencies.push(nowUs() - sentUs)
        if (status !== 200) fail(`status ${status}: ${text.slice(0, 400)}`)
        else if (chunks !== (load.chunks ?? 0)) fail(`a stream had ${chunks} chunks instead of ${load.chunks}`)
        else send()
      },
    })
    function send(): void {
      if (sent >= mostRequests || (sent > 0 && performance.now() >= until)) {
        socket.destroy()
        resolve()
        return
      }
      sent++
      chunks = 0
      scanner = new StampScanner()
      sentUs = nowUs()
      socket.write(request)
    }
    socket.on('connect', send)
    socket.on('data', (data) => reader.read(data))
    socket.on('error', (error) => fail(error.message))
    socket.on('end', () => fail('the connection was closed'))
  })
}

export function computePercentiles(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const pick = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { p50: pick(0.5), p99: pick(0.99) }
}
