import type { Socket } from 'node:net'
import { createNodeFetch } from '../../../adapters/mount/node.ts'
import { assert, suite } from '../../support/suite.ts'
import { rawUpstream } from './upstream.ts'

const test = suite('connections that a server has closed')

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** What the server does with each request, and with each of the requests on one connection. */
async function serving(onRequest: (socket: Socket, request: { nth: number; ofConnection: number }) => void) {
  const counts = new Map<Socket, number>()
  let calls = 0
  const upstream = await rawUpstream((socket) => {
    const ofConnection = (counts.get(socket) ?? 0) + 1
    counts.set(socket, ofConnection)
    onRequest(socket, { nth: ++calls, ofConnection })
  })
  const fetch = createNodeFetch()
  return {
    upstream,
    calls: () => calls,
    async post() {
      const { answer } = fetch.raw({ url: `${upstream.url}/v1`, method: 'POST', headers: {}, body: '{}' })
      const { status, body } = await answer
      while (await body.next());
      return status
    },
    close() {
      fetch.close()
      upstream.close()
    },
  }
}

type BreakOff = (socket: Socket) => void

const ways: Record<string, BreakOff> = {
  'reset it': (socket) => void socket.resetAndDestroy(),
  'closed it': (socket) => void socket.end(),
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'answered',
    ({ code }: { code?: string }) => code,
  )

for (const [how, breakOff] of Object.entries(ways)) {
  test(`one that ${how} without a word, when it was used again, costs one more connection`, async () => {
    const { post, calls, close } = await serving((socket, { ofConnection }) => {
      if (ofConnection === 1) socket.write(OK)
      else breakOff(socket)
    })
    assert.is(await post(), 200)
    assert.is(await post(), 200)
    assert.is(calls(), 3)
    close()
  })

  test(`a new one that ${how} is a failure at once`, async () => {
    const { post, calls, close } = await serving(breakOff)
    assert.ok(['ECONNRESET', 'UND_ERR_SOCKET'].includes((await failure(post())) ?? ''))
    assert.is(calls(), 1)
    close()
  })

  test(`it is tried once more only: the server that ${how} each time has failed`, async () => {
    const { post, calls, close } = await serving((socket, { nth }) => {
      if (nth === 1) socket.write(OK)
      else breakOff(socket)
    })
    assert.is(await post(), 200)
    assert.ok(['ECONNRESET', 'UND_ERR_SOCKET'].includes((await failure(post())) ?? ''))
    assert.is(calls(), 3)
    close()
  })
}

test('one that breaks off behind the beginning of an answer is not called again', async () => {
  const { post, calls, close } = await serving((socket, { nth }) => {
    if (nth === 1) socket.write(OK)
    else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no')
  })
  assert.is(await post(), 200)
  assert.is.not(await failure(post()), 'answered')
  assert.is(calls(), 2)
  close()
})
