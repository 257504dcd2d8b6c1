import { explainAction } from '../../src/cli/commands/view-actions.ts'
import { assert, suite } from '../support/suite.ts'
import { openRouted, type RoutedOptions } from './support/routed.ts'

const test = suite('explaining requests with a route function')

async function explain(options: RoutedOptions, request: { model?: string; keyId?: string } = {}) {
  const opened = openRouted(options)
  const explanation = await opened.api.explain({ model: 'auto', ...request })
  return { ...opened, explanation }
}

const listUses = (targets: ReadonlyArray<{ provider: string; use: string }>) =>
  targets.map(({ provider, use }) => `${provider} ${use}`)

test('an explanation lists the models that route returned, and their targets', async () => {
  const { explanation, upstream, errors } = await explain({ route: () => ['two/m', 'smart'] })
  const { model, route, targets } = explanation
  assert.equal(
    [model, route, listUses(targets)],
    ['auto', { models: ['two/m', 'smart'] }, ['two first', 'one next', 'two skipped']],
  )
  assert.equal([upstream.calls.length, errors], [0, []])
})

test('an explanation shows when route returned nothing', async () => {
  const usual = await explain({ route: () => undefined }, { model: 'smart' })
  assert.equal([usual.explanation.route, listUses(usual.explanation.targets)], [{}, ['one first', 'two next']])
  const unknown = await explain({ route: () => undefined })
  assert.equal([unknown.explanation.route, unknown.explanation.error?.status], [{}, 404])
})

test('an explanation has no routing decision without a route function', async () => {
  const { explanation } = await explain({}, { model: 'smart' })
  assert.not.ok('route' in explanation)
})

test('an explanation states why route failed, and which error the client gets', async () => {
  const route = () => {
    throw new Error('no quota service')
  }
  const { explanation, errors } = await explain({ route }, { model: 'smart' })
  assert.match(explanation.route?.error ?? '', /"route" failed.*no quota service/)
  assert.equal([explanation.error?.status, explanation.error?.code], [503, 'ROUTE_FAILED'])
  assert.equal([explanation.targets, errors], [[], []])
  const ignored = await explain({ route, onRouteError: 'ignore' }, { model: 'smart' })
  assert.match(ignored.explanation.route?.error ?? '', /no quota service/)
  assert.equal(
    [ignored.explanation.error, listUses(ignored.explanation.targets)],
    [undefined, ['one first', 'two next']],
  )
})

test("an explanation applies a key's models to both the requested and the returned name", async () => {
  const opened = openRouted({ route: ({ key }) => (key?.name === 'app' ? ['one/m', 'two/m'] : 'claude/c') })
  const { id } = await opened.api.keys.create({ name: 'app', models: ['auto', 'two/m'] })
  const explained = await opened.api.explain({ model: 'auto', keyId: id })
  assert.equal(listUses(explained.targets), ['one first', 'two next'])
  const other = await opened.api.explain({ model: 'other', keyId: id })
  assert.equal(listUses(other.targets), ['one skipped', 'two first'])
  const anyone = await opened.api.explain({ model: 'auto' })
  assert.equal(listUses(anyone.targets), ['claude first'])
})

test('signalbox explain prints the decision of route above the targets', async () => {
  const print = async (options: RoutedOptions) => {
    const { explanation } = await explain(options, { model: 'smart' })
    const { text } = explainAction.show(explanation, { explain: (message: string) => message } as never)
    return text
  }
  assert.match(await print({ route: () => ['two/m'] }), /^Chosen by "route": two\/m\n\nUSE .*\nfirst +two\/m /)
  assert.match(
    await print({ route: () => 7 as never, onRouteError: 'ignore' }),
    /^"route" failed .* a number\.?\n\nUSE /,
  )
  assert.match(await print({ route: () => undefined }), /^USE /)
})
