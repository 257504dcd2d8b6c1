import { readdirSync, readFileSync } from 'node:fs'
import { isObject } from '../../src/lib/json.ts'
import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { vendorFormats } from '../../src/types/unions.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('vendor adapters')

const kinds = new URL('../../src/protocols/kinds/', import.meta.url)

interface Adapter {
  name: string
  providers?: readonly string[]
  matches?: unknown
}

const isAdapter = (value: unknown): value is Adapter =>
  isObject(value) && 'writeRequest' in value && 'readResponse' in value

/** Loads each kind's adapters from its `vendors` folder, and the names of the adapters that the kind uses. */
async function loadKinds() {
  const folders = readdirSync(kinds, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('/vendors'))
  return Promise.all(
    folders.map(async (folder) => {
      const kind = folder.replace('/vendors', '')
      const modules = readdirSync(new URL(folder, kinds)).map(
        (file) => import(new URL(`${folder}/${file}`, kinds).href),
      )
      const adapters = (await Promise.all(modules)).flatMap((module: object) => Object.values(module).filter(isAdapter))
      const definition: object = await import(new URL(`${kind}/${kind}-adapters.ts`, kinds).href)
      const used = Object.values(definition).find((value) => isObject(value) && 'vendors' in value) as {
        vendors: string[]
      }
      return { kind, adapters, used: used.vendors }
    }),
  )
}

test('each vendor adapter is used by its kind', async () => {
  const loaded = await loadKinds()
  assert.ok(loaded.length > 6)
  for (const { kind, adapters, used } of loaded)
    for (const { name } of adapters)
      assert.ok(
        used.includes(name),
        `Nothing uses the adapter "${name}". Add it to "vendors" in src/protocols/kinds/${kind}/${kind}-adapters.ts.`,
      )
})

test("each vendor adapter can be reached through a provider or a connection's format", async () => {
  for (const { kind, adapters, used } of await loadKinds())
    for (const { name, providers, matches } of adapters) {
      const isFallback = name === used.at(-1)
      const isNamed = vendorFormats.some((word) => word === name)
      assert.ok(
        isFallback || isNamed || matches || (providers?.length ?? 0) > 0,
        `No target uses the adapter "${name}" of ${kind}. Give it "providers" or "matches", or add its name to "vendorFormats" in types/unions.ts.`,
      )
    }
})

test('vendor adapters name only providers in the catalog', async () => {
  for (const { kind, adapters } of await loadKinds())
    for (const { name, providers = [] } of adapters)
      for (const id of providers)
        assert.ok(
          Object.hasOwn(defaultCatalog, id),
          `The adapter "${name}" of ${kind} names "${id}" in "providers", which isn't in definitions.ts.`,
        )
})

test('the tests have a fake of each vendor', async () => {
  for (const { kind, adapters } of await loadKinds()) {
    const folder = kind.startsWith('web-') ? 'web' : kind
    const files = ['rerank', 'moderation'].includes(kind)
      ? [`support/${kind}-vendors.ts`]
      : readdirSync(new URL(`${folder}/`, import.meta.url)).flatMap((file) =>
          /vendors\.ts$/.test(file) ? [`${folder}/${file}`] : [],
        )
    const fakes = files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n')
    for (const { name, providers = [] } of adapters)
      assert.ok(
        providers.length === 0 || providers.some((id) => new RegExp(`\\b${id}\\b`).test(fakes)),
        `Nothing tests the adapter "${name}" of ${kind}. Add a fake of the vendor to test/kinds/${files[0]}.`,
      )
  }
})

test('each vendor format that a connection can have is an adapter of some kind', async () => {
  const known = new Set((await loadKinds()).flatMap(({ used }) => used))
  for (const name of vendorFormats) assert.ok(known.has(name), `No kind has an adapter "${name}".`)
})
