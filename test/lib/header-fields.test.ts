import { assert, suite } from '../support/suite.ts'

const fields = suite('the header fields of a message')

type Named = Record<string, string | string[]>

const entriesOf = (named: Named) =>
  Object.entries(named).flatMap(([name, all]) => [all].flat().map((one) => [name, one]))

/** Headers as Bun has them, which count the look-ups made in them; `spell`: how the object of them writes a name. */
const bunHeaders = (spell: (name: string) => string) =>
  class extends Headers {
    readonly named: Named
    lookUps = 0

    constructor(named: Named) {
      super(entriesOf(named) as [string, string][]) // as the types of Node have it
      this.named = named
    }

    toJSON() {
      return Object.fromEntries(Object.entries(this.named).map(([name, value]) => [spell(name), value]))
    }

    override get(name: string) {
      this.lookUps++
      return super.get(name)
    }
  }

const runtimes = {
  Bun: bunHeaders((name) => name.toLowerCase()),
  'a Bun that writes names as they came': bunHeaders((name) => name),
  others: Headers,
}

/** The module as a runtime with these headers loads it. */
async function loadedIn(runtime: keyof typeof runtimes): Promise<typeof import('../../src/lib/header-fields.ts')> {
  const { Headers } = globalThis
  globalThis.Headers = runtimes[runtime] as typeof Headers // only what the module asks of it
  try {
    return await import(`../../src/lib/header-fields.ts?${encodeURIComponent(runtime)}`)
  } finally {
    globalThis.Headers = Headers
  }
}

for (const runtime of Object.keys(runtimes) as (keyof typeof runtimes)[]) {
  const made = (named: Record<string, string>) => new runtimes[runtime](named)

  fields(`are read in ${runtime}`, async () => {
    const { fieldsOf } = await loadedIn(runtime)
    const read = fieldsOf(made({ Accept: 'text/plain', 'X-Title': 'an app' }))
    assert.is(read.get('accept'), 'text/plain')
    assert.is(read.get('x-title'), 'an app')
    assert.equal(
      [...read.all()],
      [
        ['accept', 'text/plain'],
        ['x-title', 'an app'],
      ],
    )
  })

  fields(`are copied by name in ${runtime}, over what is there`, async () => {
    const { fieldsOf } = await loadedIn(runtime)
    const read = fieldsOf(made({ Accept: 'text/plain', 'X-Title': 'an app', Cookie: 'a=1' }))
    const into = { accept: '*/*', 'content-type': 'text/html' }
    read.copy(new Set(['accept', 'x-title', 'x-none', 'constructor']), into)
    assert.equal(into, { accept: 'text/plain', 'content-type': 'text/html', 'x-title': 'an app' })
  })

  fields(`do not include what every object has, in ${runtime}`, async () => {
    const { fieldsOf } = await loadedIn(runtime)
    const read = fieldsOf(made({ Accept: '*/*' }))
    for (const name of ['constructor', 'tostring', '__proto__', 'x-none']) assert.is(read.get(name), undefined)
  })
}

fields('are joined where one is repeated', async () => {
  const { fieldsOf } = await loadedIn('Bun')
  const read = fieldsOf(new runtimes.Bun({ 'Set-Cookie': ['a=1', 'b=2'] }))
  assert.is(read.get('set-cookie'), 'a=1, b=2')
  const into = {}
  read.copy(new Set(['set-cookie']), into)
  assert.equal(into, { 'set-cookie': 'a=1, b=2' })
  assert.equal(
    [...read.all()],
    [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ],
  )
})

fields('are looked up in the object that Bun makes of them', async () => {
  const { fieldsOf } = await loadedIn('Bun')
  const headers = new runtimes.Bun({ accept: '*/*' })
  const read = fieldsOf(headers)
  read.get('accept')
  read.get('origin')
  assert.is(headers.lookUps, 0)
})

fields('are read as elsewhere in Bun, of headers that are not its own', async () => {
  const { fieldsOf } = await loadedIn('Bun')
  assert.is(fieldsOf(new Headers({ 'X-Title': 'an app' })).get('x-title'), 'an app')
})
