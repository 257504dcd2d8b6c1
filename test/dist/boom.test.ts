import { runInNewContext } from 'node:vm'
import * as original from '@hapi/boom'
import { build } from 'esbuild'
import { portableBoom } from '../../tsup.config.ts'
import { assert, suite } from '../support/suite.ts'

type Boom = typeof original
const test = suite('the bundled boom', { boom: original as Boom, code: '' })

test.before(async (context) => {
  const { outputFiles } = await build({
    stdin: { contents: "export * from '@hapi/boom'", resolveDir: import.meta.dirname },
    bundle: true,
    format: 'iife',
    globalName: 'boom',
    platform: 'neutral',
    mainFields: ['main'],
    write: false,
    plugins: [portableBoom],
  })
  context.code = outputFiles[0]?.text ?? ''
  // A realm with only the language's built-ins: no `Buffer`, no `structuredClone`, and no `captureStackTrace`, as in other engines.
  context.boom = runInNewContext(`delete Error.captureStackTrace; ${context.code}; boom`)
})

const same: Record<string, (boom: Boom) => original.Boom> = {
  'an error with a status': (boom) => new boom.Boom('full', { statusCode: 507, data: { left: 0 } }),
  'a client error': (boom) => new boom.Boom('no name', { statusCode: 400, data: { field: 'name' } }),
  'an error without a message': (boom) => new boom.Boom(undefined, { statusCode: 404 }),
  'an internal error with a hidden message': (boom) => new boom.Boom('a secret'),
}

for (const [name, make] of Object.entries(same)) {
  test(`the bundled boom creates ${name} like the original`, ({ boom }) => {
    const [ours, theirs] = [make(boom), make(original)]
    assert.equal(plain(ours.output), plain(theirs.output))
    assert.is(ours.message, theirs.message)
    assert.equal(plain(ours.data), plain(theirs.data))
    assert.is(ours.isServer, theirs.isServer)
    assert.ok(boom.isBoom(ours))
  })
}

test('the bundled boom copies an existing error without changing it', ({ boom }) => {
  const RealmError = Object.getPrototypeOf(boom.Boom) as ErrorConstructor
  const cause = new RealmError('broken')
  const created = new boom.Boom(cause, { statusCode: 502 })
  assert.is(created.output.statusCode, 502)
  assert.is(created.message, 'broken')
  assert.is(created.stack, cause.stack)
  assert.not('isBoom' in cause)
})

test('the bundled boom rejects the same input as the original', ({ boom }) => {
  for (const each of [boom, original]) {
    assert.throws(() => new each.Boom('fine', { statusCode: 200 }), /First argument must be a number \(400\+\): 200/)
  }
})

test('the bundled boom omits the unused factories for individual statuses', ({ boom }) => {
  assert.equal(
    Object.keys(boom)
      .filter((name) => name !== 'default' && name !== 'module.exports')
      .sort(),
    ['Boom', 'boomify', 'isBoom'],
  )
})

test('the bundled boom needs no CommonJS wrapper', ({ code }) => {
  assert.not.match(code, /__commonJS|__toESM/)
})

/** Strips the realm's prototypes from a value. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null))
}
