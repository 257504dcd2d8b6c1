import {
  brotliCompressSync,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
  type InputType,
  zstdCompressSync,
} from 'node:zlib'
import { createNodeFetch } from '../../../adapters/mount/node.ts'
import type { ByteStream } from '../../../src/index.ts'
import { assert, suite } from '../../support/suite.ts'
import { httpUpstream } from './upstream.ts'

const test = suite('compressed responses')
const fetch = createNodeFetch()
const closers: Array<() => void> = [() => fetch.close()]
test.after(() => {
  for (const close of closers) close()
})

const TEXT = 'The quick brown fox. '.repeat(10_000)

async function respond(encoding: string, ...parts: Uint8Array[]) {
  const upstream = await httpUpstream((_, res) => {
    res.writeHead(200, { 'content-encoding': encoding, 'content-type': 'text/plain' })
    for (const part of parts) res.write(part)
    res.end()
  })
  closers.push(upstream.close)
  return fetch.raw({ url: upstream.url, method: 'GET', headers: {} }).response
}

async function getText(body: ByteStream): Promise<string> {
  const parts: Uint8Array[] = []
  for (let chunk = await body.next(); chunk; chunk = await body.next()) parts.push(chunk)
  return Buffer.concat(parts).toString()
}

const encodings: Array<[name: string, encode: (input: InputType) => Uint8Array]> = [
  ['gzip', (input) => gzipSync(input)],
  ['x-gzip', (input) => gzipSync(input)],
  ['GZIP', (input) => gzipSync(input)],
  ['br', (input) => brotliCompressSync(input)],
  ['deflate', (input) => deflateSync(input)],
  ['deflate', (input) => deflateRawSync(input)],
  ['zstd', (input) => zstdCompressSync(input)],
  ['gzip, br', (input) => brotliCompressSync(gzipSync(input))],
]

for (const [name, encode] of encodings) {
  test(`the call decompresses ${name}${encode === encodings[5]?.[1] ? ', raw' : ''}`, async () => {
    const response = await respond(name, encode(TEXT))
    assert.is(await getText(response.body), TEXT)
  })
}

test('decompressed responses drop the headers that describe the compressed body', async () => {
  const bytes = gzipSync(TEXT)
  const upstream = await httpUpstream((_, res) => {
    res.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bytes.length, 'x-a': '1' }).end(bytes)
  })
  closers.push(upstream.close)
  const response = await fetch.raw({ url: upstream.url, method: 'GET', headers: {} }).response
  assert.is(response.header('content-encoding'), undefined)
  assert.is(response.header('content-length'), undefined)
  const names = [...response.headers()].map(([name]) => name)
  assert.ok(names.includes('x-a') && !names.includes('content-encoding') && !names.includes('content-length'))
  assert.is(await getText(response.body), TEXT)
})

test('each event in a compressed stream is decompressed as soon as it arrives', async () => {
  const gzip = createGzip()
  const upstream = await httpUpstream((_, res) => {
    res.writeHead(200, { 'content-encoding': 'gzip' })
    gzip.pipe(res)
    gzip.write('data: 1\n\n')
    gzip.flush()
  })
  closers.push(upstream.close)
  const { body } = await fetch.raw({ url: upstream.url, method: 'GET', headers: {} }).response
  assert.is(Buffer.from((await body.next()) ?? []).toString(), 'data: 1\n\n')
  gzip.end('data: 2\n\n')
  assert.is(await getText(body), 'data: 2\n\n')
})

test('reading a truncated or corrupt compressed response rejects', async () => {
  const full = gzipSync(TEXT)
  const damaged = Uint8Array.from(full)
  damaged.fill(7, 100, 200)
  for (const bytes of [full.subarray(0, -10), damaged, Buffer.from('not gzip at all')]) {
    const { body } = await respond('gzip', bytes)
    assert.instance(await getText(body).catch((error) => error), Error)
  }
})

test("compressed responses may be empty, and identity doesn't count as an encoding", async () => {
  assert.is(await getText((await respond('gzip')).body), '')
  const plain = await respond('identity', Buffer.from('plain'))
  assert.is(await getText(plain.body), 'plain')
})

test('responses with an unsupported encoding are rejected, and their connections are closed', async () => {
  const error = await respond('x-unknown', Buffer.from('x')).catch((cause) => cause)
  assert.match(String(error), /content encoding "x-unknown"/)
})

test('canceling a compressed response cancels the upstream body', async () => {
  const closed = Promise.withResolvers<void>()
  const upstream = await httpUpstream((_, res) => {
    res.on('close', closed.resolve)
    res.writeHead(200, { 'content-encoding': 'gzip' })
    res.write(gzipSync(TEXT).subarray(0, 500))
  })
  closers.push(upstream.close)
  const { body } = await fetch.raw({ url: upstream.url, method: 'GET', headers: {} }).response
  await body.next()
  const waiting = getText(body).catch((error) => error)
  body.cancel()
  await closed.promise
  assert.instance(await waiting, Error)
})
