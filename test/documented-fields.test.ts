import { readdirSync, readFileSync } from 'node:fs'
import { accountFields } from '../src/types/records/account-fields.ts'
import { comboFields } from '../src/types/records/combo-fields.ts'
import { connectionFields } from '../src/types/records/connection-fields.ts'
import { groupFields } from '../src/types/records/group-fields.ts'
import { keyFields } from '../src/types/records/key-fields.ts'
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
}

/** Fields that the dashboard doesn't set, unlike the API, the CLI, and the config file. */
const withoutForm: readonly string[] = []

/** Lists the fields that a change of the record may set. */
const listChangeable = (fields: RecordFields) =>
  Object.entries(fields).flatMap(([name, { inputs: { update } = {} }]) => {
    const way = typeof update === 'object' ? update.as : update
    return way && !['same', 'ignored', 'refused'].includes(way) ? [name] : []
  })

/** Lists the fields of all records that `isThere` doesn't find. */
const listMissing = (isThere: (field: string) => boolean) =>
  Object.entries(records).flatMap(([resource, fields]) =>
    listChangeable(fields).flatMap((field) => (isThere(field) ? [] : [`${resource}.${field}`])),
  )

const hasWord = (text: string, word: string) => new RegExp(`\\b${word}\\b`).test(text)

test('the dashboard has a form field for each field that can be changed, unless this test lists it', () => {
  const source = readdirSync(new URL(PAGES, root))
    .map((file) => read(PAGES + file))
    .join('\n')
  const missing = listMissing((field) => hasWord(source, field))
  assert.equal(missing, withoutForm, `Add each to its form in ${PAGES}, or to \`withoutForm\` in this test.`)
})

test('the documentation mentions each field that can be changed', () => {
  const text = readPages()
    .filter((page) => page.path.startsWith('src/') || isOfSite(page))
    .map((page) => page.text)
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
