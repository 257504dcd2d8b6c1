import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert, suite } from '../support/suite.ts'
import type { Server } from './child.ts'

/** The body limit of the apps' gateway, in bytes. */
const MAX_BYTES = 1024 * 1024
const TIMEOUT_MS = 3_000

/** The unread bytes that kernels may buffer, on both sides in total. */
const BUFFERED = 16 * 1024 * 1024

/** Tests a runtime with raw requests that no legitimate client sends. */
export function addHostileRequestTests(name: string, start: () => Promise<Server>): void {
  const test = suite(`hostile requests to ${name}`)
  let server: Server
  let base = ''
  test.before(async () => {
    server = await start()
    base = new URL(server.url).pathname.replace(/\/$/, '')
  })
  test.after(() => server?.stop())

  test('a request with two Host headers gets a 400', async () => {
    for (const hosts of [
      ['localhost', 'localhost'],
      ['localhost', 'evil.test'],
      ['evil.test', 'localhost'],
    ]) {
      const { text, socket } = open(server.url)
      socket.write(
        `GET ${base}/v1/models HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join('')}Connection: close\r\n\r\n`,
      )
      assert.match(await text, /^HTTP\/1\.1 400 /, hosts.join())
    }
  })

  for (const way of ['chunked', 'with a length'] as const) {
    test(`the server stops reading an oversized body after the 413 (${way})`, async () => {
      const { socket, text, answered } = open(server.url)
      const length = way === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${100 * MAX_BYTES}`
      socket.write(head(base, length))
      const sending = sendOn(socket, way === 'chunked')
      await answered
      await sleep(1_000)
      const before = socket.destroyed ? 0 : socket.bytesWritten - socket.writableLength
      await sleep(500)
      const more = socket.destroyed ? 0 : socket.bytesWritten - socket.writableLength - before
      sending.stop()
      socket.destroy()
      assert.match(await text, /^HTTP\/1\.1 413 /)
      assert.ok(more < BUFFERED / 16, `${more} bytes were read in half a second`)
    })
  }

  for (const [label, length] of Object.entries({
    'a short body': `Content-Length: 500`,
    'a long body': `Content-Length: ${MAX_BYTES}`,
    'a chunked body': 'Transfer-Encoding: chunked',
  })) {
    test(`a request that stalls in ${label} gets a 408 after the timeout`, async () => {
      const { socket, text, answered } = open(server.url)
      const startedAt = performance.now()
      socket.write(head(base, length))
      socket.write(length.startsWith('Transfer') ? '2\r\n{"\r\n' : '{"')
      await answered
      const ms = performance.now() - startedAt
      socket.destroy()
      assert.match(await text, /^HTTP\/1\.1 408 [\s\S]*did not arrive within 3 s/)
      assert.ok(ms > TIMEOUT_MS - 100, `after ${ms} ms`)
    })
  }
}

const head = (base: string, length: string) =>
  `POST ${base}/v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`

/** Opens a connection and collects everything it receives. `answer` resolves when complete JSON has arrived. */
function open(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let text = ''
  const answered = new Promise<void>((resolve) => {
    socket.on('data', (part) => {
      text += part
      if (text.includes('}')) resolve()
    })
    socket.on('close', () => resolve())
  })
  socket.on('error', () => {}) // `close` follows and handles it
  return { socket, answered, text: new Promise<string>((resolve) => socket.on('close', () => resolve(text))) }
}

/** Sends spaces for as long as the server accepts them. */
function sendOn(socket: Socket, isChunked: boolean): { stop(): void } {
  const block = Buffer.alloc(64 * 1024, ' ')
  const piece = isChunked ? Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]) : block
  let isOver = false
  const go = () => {
    if (isOver || socket.destroyed) return
    if (socket.write(piece)) setTimeout(go, 0)
    else socket.once('drain', go)
  }
  go()
  return {
    stop() {
      isOver = true
    },
  }
}
