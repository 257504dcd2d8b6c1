import type { GatewayOptions } from '../../src/options.ts'
import type { RouteCandidate } from '../../src/request/route-call.ts'
import type { NewKey } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { getOutcome, openRouted, type RoutedOptions } from './support/routed.ts'

const test = suite('key permissions and limits with a route function')

async function open(options: RoutedOptions, rules: Omit<NewKey, 'name'> = {}) {
  const opened = openRouted({ settings: { requireApiKey: true }, ...options })
  const { key } = await opened.api.keys.create({ name: 'app', ...rules })
  const send = (model: string) => opened.chat({ model }, { headers: { authorization: `Bearer ${key}` } })
  return { ...opened, send }
}

test('a key that allows only auto can use the models that route returns for auto', async () => {
  for (const chosen of ['one/m', 'smart', ['two/m', 'smart'], { models: ['one/m'] }]) {
    const { send } = await open({ route: () => chosen }, { models: ['auto'] })
    assert.is((await send('auto')).status, 200, JSON.stringify(chosen))
  }
})

test("a key gets a 403 if it isn't allowed to use the requested name", async () => {
  const { send, upstream } = await open({ route: () => ['one/m'] }, { models: ['auto', 'two/m'] })
  assert.is(await getOutcome(await send('two/m')), '200', 'the key may use the requested name')
  assert.is(await getOutcome(await send('one/m')), '403 model_not_allowed')
  assert.is(await getOutcome(await send('other')), '403 model_not_allowed')
  assert.is(upstream.calls.length, 1)
})

test("targets in a list are skipped if the key doesn't allow them", async () => {
  const { send, upstream } = await open({ route: () => ['one/m', 'two/m'] }, { models: ['two/*'] })
  assert.is((await send('other')).status, 200)
  assert.equal(upstream.providers, ['two'])
})

test('a request can be routed to a combo that its key allows', async () => {
  const { send, upstream } = await open({ route: () => 'smart' }, { models: ['smart'] })
  assert.is((await send('other')).status, 200)
  assert.equal(upstream.providers, ['one'])
})

test("candidates() omits targets that the key doesn't allow", async () => {
  let found: RouteCandidate[] = []
  const route: GatewayOptions['route'] = (_, { candidates }) => {
    found = candidates('smart')
    return found[0]?.name
  }
  const { send } = await open({ route }, { models: ['two/*'] })
  assert.is((await send('other')).status, 200)
  assert.equal(
    found.map(({ name }) => name),
    ['two/m'],
  )
})

test("route doesn't change a key's kinds or limits", async () => {
  const { send, upstream } = await open({ route: () => 'two/m' }, { kinds: ['llm'], limits: { requests: { day: 1 } } })
  assert.is((await send('auto')).status, 200)
  assert.is(await getOutcome(await send('auto')), '429 rate_limit_exceeded')
  assert.is(upstream.calls.length, 1)
  const embeddings = await open({ route: () => 'two/m' }, { kinds: ['embedding'] })
  assert.is(await getOutcome(await embeddings.send('auto')), '403 model_not_allowed')
})

test('route receives the key in the request and in the context', async () => {
  const seen: unknown[] = []
  const { send } = await open({
    route: ({ key }, context) => {
      seen.push(key?.name, context.key?.name)
      return 'one/m'
    },
  })
  assert.is((await send('auto')).status, 200)
  assert.equal(seen, ['app', 'app'])
})
