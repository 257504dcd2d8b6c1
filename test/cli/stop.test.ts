import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { assert, suite } from '../support/suite.ts'
import { chat, cleanUp, findToken, manage, signalbox, temporaryFolder } from './command.ts'

const stop = suite('stopping the CLI')

stop.after(cleanUp)

stop('after a signal, signalbox finishes open streams, rejects new requests, and exits with 0', async () => {
  await Promise.all((['SIGTERM', 'SIGINT'] as const).map(assertDrainsAfter))
})

async function assertDrainsAfter(signal: NodeJS.Signals): Promise<void> {
  const command = signalbox(['--demo', '--data', await temporaryFolder()])
  const baseUrl = await command.baseUrl()
  const response = await chat(baseUrl, 'demo')
  const reader = response.body?.getReader()
  await reader?.read()
  command.kill(signal)
  await command.printed(/Stopping\. In-flight requests have 10 seconds to finish; press Ctrl-C again to quit now\.\n$/)
  command.kill(signal) // npm sends Ctrl-C twice
  const rejected = await chat(baseUrl, 'demo').then(
    ({ status }) => status,
    () => 'refused',
  )
  assert.ok(rejected === 503 || rejected === 'refused', `a new request got ${rejected}`)
  let text = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += new TextDecoder().decode(part.value)
  }
  assert.match(text, /data: \[DONE\]\n\n$/)
  assert.equal(await command.ended, { code: 0, signal: null })
  assert.is(command.stdout.split('Stopping').length, 2)
  assert.is(command.stderr, '')
}

stop('signalbox exits immediately after a signal if no requests are in flight', async () => {
  const command = signalbox(['--data', await temporaryFolder()])
  const baseUrl = await command.baseUrl()
  await (await fetch(`${baseUrl}/v1/models`)).arrayBuffer() // leaves a keep-alive connection open
  const recordedAt = performance.now()
  assert.equal(await command.stop(), { code: 0, signal: null })
  assert.ok(performance.now() - recordedAt < 5_000, `stopping took ${performance.now() - recordedAt} ms`)
})

stop('signalbox exits immediately if the signal is repeated a second later', async () => {
  const silent = createServer(
    (_, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
  )
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const command = signalbox(['--data', await temporaryFolder()])
  const baseUrl = await command.baseUrl()
  await manage(`${baseUrl}/api/connections`, findToken(command), {
    body: { provider: 'mine', providerSpecificData: { baseUrl: `http://127.0.0.1:${port}/v1` } },
  })
  const requested = new Promise((resolve) => silent.once('request', resolve))
  const reply = chat(baseUrl, 'mine/model').catch(() => 'cut')
  await requested
  command.kill('SIGTERM')
  await command.printed(/Stopping/)
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  const recordedAt = performance.now()
  assert.equal(await command.stop(), { code: 1, signal: null })
  assert.ok(performance.now() - recordedAt < 5_000)
  assert.is(await reply, 'cut')
  silent.closeAllConnections()
  silent.close()
})

stop('signalbox logs an uncaught error in one line without possible secrets, and exits with 1', async () => {
  const message = `bad header\\nBearer sk-canary-012345 for sbx_admin_${'x'.repeat(43)}`
  const crash = `process.once('SIGUSR2', () => Promise.reject(new Error('${message}')))`
  const command = signalbox(['--data', await temporaryFolder()], {
    node: ['--import', `data:text/javascript,${crash}`],
  })
  await command.baseUrl()
  command.kill('SIGUSR2')
  assert.equal(await command.ended, { code: 1, signal: null })
  assert.is(command.stderr, 'signalbox: Unexpected error: Error: bad header … for …\n')
})
