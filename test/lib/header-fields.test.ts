import { fieldsOf } from '../../src/lib/header-fields.ts'
import { assert, suite } from '../support/suite.ts'

const fields = suite('the header fields of a message')

/** Headers as Bun has them, which count the look-ups made in them. */
function bunHeaders(named: Record<string, string | string[]>) {
  const headers = new Headers(
    Object.entries(named).flatMap(([name, values]) => [values].flat().map((one) => [name, one])),
  )
  let lookUps = 0
  const get = headers.get.bind(headers)
  return Object.assign(headers, {
    toJSON: () => named,
    get(name: string) {
      lookUps++
      return get(name)
    },
    lookUps: () => lookUps,
  })
}

for (const [runtime, made] of [
  ['Bun', bunHeaders],
  ['others', (named: Record<string, string>) => new Headers(named)],
] as const) {
  fields(`are read in ${runtime}`, () => {
    const { get, all } = fieldsOf(made({ accept: 'text/plain', 'x-title': 'an app' }))
    assert.is(get('accept'), 'text/plain')
    assert.is(get('x-title'), 'an app')
    assert.equal(
      [...all()],
      [
        ['accept', 'text/plain'],
        ['x-title', 'an app'],
      ],
    )
  })

  fields(`do not include what every object has, in ${runtime}`, () => {
    const { get } = fieldsOf(made({ accept: '*/*' }))
    for (const name of ['constructor', 'tostring', '__proto__', 'x-none']) assert.is(get(name), undefined)
  })
}

fields('are joined where one is repeated', () => {
  assert.is(fieldsOf(bunHeaders({ 'set-cookie': ['a=1', 'b=2'] })).get('set-cookie'), 'a=1, b=2')
})

fields('are looked up in the object that Bun makes of them', () => {
  const headers = bunHeaders({ accept: '*/*' })
  const { get } = fieldsOf(headers)
  get('accept')
  get('origin')
  assert.is(headers.lookUps(), 0)
})
