import { readFileSync } from 'node:fs'
import { accountFields } from '../src/types/records/account-fields.ts'
import { comboFields } from '../src/types/records/combo-fields.ts'
import { connectionFields } from '../src/types/records/connection-fields.ts'
import { groupFields } from '../src/types/records/group-fields.ts'
import { guardFields, guardKinds, sharedGuardFields } from '../src/types/records/guard-fields.ts'
import { keyFields } from '../src/types/records/key-fields.ts'
import { aliasFields, customModelFields } from '../src/types/records/model-fields.ts'
import type { RecordFields } from '../src/types/records/record-fields.ts'
import { settingsFields } from '../src/types/records/settings-fields.ts'
import { isOfSite, readPages } from './docs/pages.ts'
import { assert, suite } from './support/suite.ts'

const test = suite('record fields in the documentation and the dashboard')

const root = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const PAGES = 'src/features/dashboard/page/pages/'

/** The records that users can change. */
const records: Record<string, RecordFields> = {
  keys: keyFields,
  groups: groupFields,
  accounts: accountFields,
  combos: comboFields,
  connections: connectionFields,
  settings: settingsFields,
  guards: guardFields,
  customModels: customModelFields,
  aliases: aliasFields,
}

/** The files that contain the form of each record, and the buttons that change single fields. */
const forms: Record<keyof typeof records, readonly string[]> = {
  keys: ['owner-form', 'keys'],
  groups: ['owner-form', 'keys'],
  accounts: ['owner-form', 'accounts'],
  combos: ['combo-form', 'combo-entries'],
  connections: ['connection-form', 'targets'],
  settings: ['settings', 'cloud'],
  guards: ['guard-form'],
  customModels: ['models'],
  aliases: ['combos'],
}

/** Fields that a form renders from a table, without naming them. */
const renderedFields: Partial<Record<keyof typeof records, readonly string[]>> = {
  guards: [sharedGuardFields, ...Object.values(guardKinds)].flatMap((options) => Object.keys(options)),
}

/** Fields that the dashboard doesn't set, unlike the API, the CLI, and the config file. Accounts are paused and resumed with buttons. */
const withoutForm: readonly string[] = ['accounts.isActive', 'combos.health', 'settings.health', 'settings.timeouts']

/** Lists the fields that an update of the record may set. Records without `update` are replaced with `put`. */
function listChangeable(fields: RecordFields) {
  const isReplaced = Object.values(fields).every(({ inputs }) => inputs?.update === undefined)
  return Object.entries(fields).flatMap(([name, { inputs = {} }]) => {
    const input = isReplaced ? inputs.put : inputs.update
    const way = typeof input === 'object' ? input.as : input
    return way && !['same', 'ignored', 'refused'].includes(way) ? [name] : []
  })
}

/** Lists the fields of all records that `isThere` doesn't find. */
const listMissing = (isThere: (field: string, resource: string) => boolean | undefined) =>
  Object.entries(records).flatMap(([resource, fields]) =>
    listChangeable(fields).flatMap((field) => (isThere(field, resource) ? [] : [`${resource}.${field}`])),
  )

/** Returns whether a form has a field with this path, a binding to it, or an input that sets it. Merely naming it in a type doesn't count. */
function hasField(source: string, field: string): boolean {
  const code = source.replaceAll(/^(?:export )?(?:interface|type) [^\n]*\{\n[\s\S]*?^\}/gm, '')
  return [
    `\\bsetting\\(\\s*'${field}'`,
    `path="${field}["\\.]`,
    `path=\\{[^}]*'${field}'`,
    `&& \\{ ${field} \\}`,
    `bindField\\(\\w+, '${field}'\\)`,
    `[{,(\\s]${field}: (?!string|boolean|number)`,
  ].some((pattern) => new RegExp(pattern).test(code))
}

test('the dashboard has a form field for each changeable field, with listed exceptions', () => {
  const sources = new Map(
    Object.entries(forms).map(([resource, files]) => [
      resource,
      files.map((file) => read(`${PAGES}${file}.tsx`)).join('\n'),
    ]),
  )
  const missing = listMissing(
    (field, resource) => renderedFields[resource]?.includes(field) || hasField(sources.get(resource) ?? '', field),
  )
  assert.equal(missing, withoutForm, `Add each to its form in ${PAGES}, or to \`withoutForm\` in this test.`)
})

test('the documentation, except its generated tables, mentions each field that can be changed', () => {
  const text = readPages()
    .filter((page) => page.path.startsWith('src/') || isOfSite(page))
    .map((page) => page.text.replaceAll(/<!-- generated: [\s\S]*?<!-- end -->/g, ''))
    .join('\n')
  const missing = listMissing((field) =>
    [`\`${field}\``, `"${field}"`, `${field}:`].some((name) => text.includes(name)),
  )
  assert.equal(
    missing,
    [],
    'Describe each in docs/src/content/docs/reference/management-api.md, or on the page of the feature that it is for.',
  )
})
