import { readdirSync } from 'node:fs'
import { isObject } from '../../src/lib/json.ts'
import { vendorForms } from '../../src/types/unions.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('vendor forms')

const kinds = new URL('../../src/protocols/kinds/', import.meta.url)

interface Form {
  name: string
  providers?: readonly string[]
  matches?: unknown
}

const isForm = (value: unknown): value is Form => isObject(value) && 'writeRequest' in value && 'readResponse' in value

/** Each kind with the forms in the files of its folder `vendors`, and with the names of the forms that it uses. */
async function loadKinds() {
  const folders = readdirSync(kinds, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('/vendors'))
  return Promise.all(
    folders.map(async (folder) => {
      const kind = folder.replace('/vendors', '')
      const modules = readdirSync(new URL(folder, kinds)).map(
        (file) => import(new URL(`${folder}/${file}`, kinds).href),
      )
      const forms = (await Promise.all(modules)).flatMap((module: object) => Object.values(module).filter(isForm))
      const definition: object = await import(new URL(`${kind}/${kind}-forms.ts`, kinds).href)
      const used = Object.values(definition).find((value) => isObject(value) && 'vendors' in value) as {
        vendors: string[]
      }
      return { kind, forms, used: used.vendors }
    }),
  )
}

test('each vendor form is used by its kind', async () => {
  const loaded = await loadKinds()
  assert.ok(loaded.length > 6)
  for (const { kind, forms, used } of loaded)
    for (const { name } of forms)
      assert.ok(
        used.includes(name),
        `Nothing uses the form "${name}". Add it to ${kind}/${kind}-vendors.ts, or to the "vendors" in ${kind}/${kind}-forms.ts.`,
      )
})

test("each vendor form can be reached through a provider or a connection's format", async () => {
  for (const { kind, forms, used } of await loadKinds())
    for (const { name, providers, matches } of forms) {
      const isFallback = name === used.at(-1)
      const isNamed = vendorForms.some((word) => word === name)
      assert.ok(
        isFallback || isNamed || matches || (providers?.length ?? 0) > 0,
        `No target uses the form "${name}" of ${kind}. Give it "providers" or "matches", or add its name to "vendorForms" in types/unions.ts.`,
      )
    }
})

test('each vendor format that a connection can have is the form of a kind', async () => {
  const known = new Set((await loadKinds()).flatMap(({ used }) => used))
  for (const name of vendorForms) assert.ok(known.has(name), `No kind has a form "${name}".`)
})
