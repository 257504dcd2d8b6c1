import { assert, suite } from '../support/suite.ts'
import { runScript } from './child.ts'
import { startWorker } from './worker.ts'

const test = suite('signalbox/ai in each runtime')

const own = {
  texts: ['Hello', 'Hello', 'image', 'sound', 'heard'],
  numbers: [[0.5, 1], 1],
  errors: ['Error: left', 'AI_APICallError', 400],
  lists: [
    ['Hello 7', 503, 200],
    ['Hello 8', 503, 200],
  ],
  ends: 'finish',
}
const responses = { v4: own, v3: own }

const runtime = (name: string) => new URL(`node_modules/.bin/${name}`, import.meta.url).pathname
const commands: Record<string, string[]> = {
  Node: [process.execPath],
  Bun: [runtime('bun')],
  Deno: [runtime('deno'), 'run', '--no-prompt'],
}

for (const [name, [command = '', ...args]] of Object.entries(commands))
  test(`signalbox/ai calls models of every kind in ${name}`, async () => {
    assert.equal(JSON.parse(await runScript(command, [...args, 'apps/ai.mjs'])), responses)
  })

test('signalbox/ai calls models of every kind in workerd', async () => {
  const { url, stop } = await startWorker('worker-ai', {})
  try {
    assert.equal(await (await fetch(url)).json(), responses)
  } finally {
    await stop()
  }
})
