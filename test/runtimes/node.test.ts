import { connect } from 'node:net'
import { assert, suite } from '../support/suite.ts'
import { nodes, runScript, type Server, sharedBy, startChild } from './child.ts'
import { getClient, LONG_PROMPT } from './client.ts'
import { addClientDisconnectTests } from './client-disconnects.ts'
import { addGuardTests } from './guarded.ts'
import { addHostileRequestTests } from './hostile-requests.ts'
import { addServerTests } from './mount-closes.ts'
import { addPathTests } from './paths.ts'
import { runsIn } from './scenario.ts'
import { startUpstream } from './upstream.ts'

/** In ms. The measurement takes 25 s on an idle machine, and over two minutes with a third of a core. */
const MEASURE_MS = 400_000

for (const [version, node] of nodes) {
  addGuardTests(`Node ${version}`, async () => JSON.parse(await runScript(node, ['apps/guards.mjs'])))
  const mount = sharedBy(6, () => startChild(node, ['apps/node-mount.mjs']))
  const express = sharedBy(3, () => startChild(node, ['apps/node-express.mjs']))
  runsIn(`serveNode(gateway) on Node ${version}`, mount)
  addPathTests(`serveNode(gateway) on Node ${version}`, mount)
  addPipelinedDisconnectTests(version, mount)
  addClientDisconnectTests(`serveNode on Node ${version}`, mount)
  addHostileRequestTests(`serveNode on Node ${version}`, mount)
  addHostileRequestTests(`toExpressHandler on Node ${version}`, express)
  addServerTests(`serveNode on Node ${version}`, mount)
  runsIn(`toExpressHandler(gateway) on Node ${version}`, express)
  addPathTests(`toExpressHandler(gateway) on Node ${version}`, express)
}

addUnreadStreamTests()

/** Measures the process's memory, without kernel buffers, which take megabytes on loopback. */
function addUnreadStreamTests(): void {
  const test = suite("streams whose clients don't read")
  test("on Node, at most 128 KiB is buffered per stream if the client doesn't read", {
    timeoutMs: MEASURE_MS,
  }, async () => {
    const flags = ['--expose-gc', '--no-flush-bytecode'] // V8 would free megabytes of unused code between two measurements
    const held = JSON.parse(await runScript(process.execPath, [...flags, 'apps/unread.mjs'], MEASURE_MS))
    const all = Object.entries(held)
    assert.is(all.length, 3)
    for (const [name, kib] of all) assert.ok(typeof kib === 'number' && kib <= 128, `${name}: ${kib} KiB`)
  })
}

/** Node 20 only emits `close` for the current request of a pipeline. */
function addPipelinedDisconnectTests(version: string, start: () => Promise<Server>): void {
  const test = suite(`a client that disconnects from Node ${version}`)
  test(`all pipelined streams end when their client disconnects from Node ${version}`, async () => {
    const [server, upstream] = await Promise.all([start(), startUpstream()])
    try {
      await getClient(server.url).connect(upstream.url)
      const body = JSON.stringify({
        model: 'up/m',
        stream: true,
        messages: [
          { role: 'user', content: 'forever' },
          { role: 'user', content: LONG_PROMPT },
        ],
      })
      const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
      const cut = upstream.nextCut(3)
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
      socket.write(`${head}\r\n\r\n${body}`.repeat(3))
      while (upstream.open < 3) await new Promise((resolve) => setTimeout(resolve, 5))
      socket.destroy()
      await cut
    } finally {
      await server.stop()
      upstream.close()
    }
  })
}
