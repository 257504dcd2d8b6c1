import { Agent } from 'undici'
import { createNodeFetch } from '../../../adapters/mount/node.ts'
import { assert, suite } from '../../support/suite.ts'
import { call, createCallLab, getText, rejection } from './call-lab.ts'
import { turn } from './lab.ts'
import { noneLeft } from './upstream.ts'

const test = suite('connections for calls over undici')

const { fetch, http, raw, closers } = createCallLab(test.after)

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'

test('calls over undici reuse the most recent connections, and use one per concurrent call', async () => {
  const waiting: Array<() => void> = []
  const ports = new Set<number | undefined>()
  const { url, sockets } = await http((req, res) => {
    ports.add(req.socket.remotePort)
    if (req.url === '/wait') waiting.push(() => res.end())
    else res.end()
  })
  for (let i = 0; i < 3; i += 1) await getText((await fetch.raw(call(url)).response).body)
  assert.is(sockets.size, 1)
  const calls = Array.from({ length: 20 }, () => fetch.raw(call(`${url}/wait`)))
  while (waiting.length < 20) await turn()
  assert.is(sockets.size, 20)
  for (const end of waiting) end()
  await Promise.all(calls.map(async ({ response }) => getText((await response).body)))
  ports.clear()
  for (let i = 0; i < 3; i += 1) await getText((await fetch.raw(call(url)).response).body)
  assert.is(sockets.size, 20)
  assert.is(ports.size, 1)
})

test('a call over undici reconnects if the upstream has closed the idle connection', async () => {
  const { url, sockets } = await raw((socket) => socket.end(`${OK}content-length: 2\r\n\r\nok`))
  for (let i = 0; i < 3; i += 1) {
    assert.is(await getText((await fetch.raw(call(url)).response).body), 'ok')
    await noneLeft(sockets)
  }
})

test('a call over undici uses the given dispatcher, with the same guarantees', async () => {
  const dispatcher = new Agent()
  closers.push(() => void dispatcher.destroy())
  const through = createNodeFetch({ dispatcher })
  const size = 4 * 1024 * 1024
  const { url, sockets } = await http((req, res) => {
    if (req.url === '/large') res.end(Buffer.alloc(size))
    else res.write('half')
  })
  const { body } = await through.raw(call(`${url}/large`)).response
  assert.is((await getText(body)).length, size)
  assert.ok(Object.keys(dispatcher.stats).includes(url))
  const pending = through.raw(call(url))
  await (await pending.response).body.next()
  pending.cancel()
  const early = through.raw(call(url))
  early.cancel()
  assert.is((await rejection(early.response)).name, 'AbortError')
  await noneLeft(sockets)
})

test('closing a Node fetch ends all its connections, idle or busy', async () => {
  const own = createNodeFetch()
  const { url, sockets } = await http((req, res) => (req.url === '/wait' ? res.flushHeaders() : res.end()))
  await getText((await own.raw(call(url)).response).body)
  const { body } = await own.raw(call(`${url}/wait`)).response
  const waiting = rejection(body.next())
  own.close()
  assert.instance(await waiting, Error)
  await noneLeft(sockets)
})
