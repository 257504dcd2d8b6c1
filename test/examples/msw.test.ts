import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert, suite } from '../support/suite.ts'
import { type Example, openExample, RUN_MS } from './example.ts'

const test = suite<{ example: Example }>('the msw example')

test.before({ timeoutMs: RUN_MS }, async (context) => {
  context.example = await openExample('msw')
})
test.after(({ example }) => example?.remove())

const passing = /^# pass 4$/m
const failing = /^# fail [1-9]/m

test("the msw example's own tests pass", async ({ example }) => {
  const { code, output } = await runTests(example)
  assert.is(code, 0, output)
  assert.match(output, passing)
})

/** Faults to introduce: the file below the example's folder, its original text, and the broken text. */
const faults: Record<string, [file: string, from: string, to: string]> = {
  "the gateway doesn't respond": ['node_modules/signalbox/dist/index.js', '', 'throw new Error("broken")\n'],
  'the combo has no second model': ['app.mjs', ", 'anthropic/claude-haiku-4-5'", ''],
  'the gateway requires no key': ['app.mjs', 'requireApiKey: true', 'requireApiKey: false'],
  'the management API is open': [
    'app.mjs',
    'createGateway({ storage',
    'createGateway({ management: { dangerouslyAllowUnauthenticated: true }, storage',
  ],
  'another model is requested': ['app.mjs', 'openai/gpt-5-mini', 'openai/gpt-5-nano'],
}

for (const [fault, [file, from, to]] of Object.entries(faults))
  test(`the msw example's own tests fail if ${fault}`, async ({ example }) => {
    const path = join(example.folder, file)
    const full = await readFile(path, 'utf8')
    assert.ok(full.includes(from), `${file} doesn't contain ${from}`)
    await writeFile(path, full.replace(from, to))
    try {
      const { code, output } = await runTests(example)
      assert.is(code, 1, output)
      assert.match(output, failing)
    } finally {
      await writeFile(path, full)
    }
  })

/** Runs the README's commands with a reporter that doesn't depend on a terminal. */
function runTests({ blocks, run }: Example) {
  const script = blocks[0]?.join('\n') ?? ''
  return run(script, { NODE_OPTIONS: '--test-reporter=tap' })
}
