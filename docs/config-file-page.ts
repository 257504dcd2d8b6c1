/* The tables of the page about the config file, generated from the file's JSON Schema. */
import { createConfigSchema } from '../src/cli/config-schema/config-schema.ts'
import { formatTable } from './format-table.ts'

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  $ref?: string
  description?: string
  properties?: Record<string, Schema>
}

/** The sections of the page, by what the schema calls their fields. */
const TITLES = {
  settings: 'settings',
  Connection: 'connections',
  Combo: 'combos',
  ComboEntry: 'Entries of a combo',
  Model: 'models',
  Group: 'groups and plans',
  Key: 'keys',
}

/** Descriptions that say what one section can't: the name or the ID is the key under which a record stands. */
const SHORTER: Record<string, string> = {
  id: "The ID, if it isn't the name the record is listed under.",
  limits: '[Limits](../guides/budgets-and-rate-limits.md) on `requests`, `tokens`, `usd`, and `parallel` requests.',
  each: '[Limits](../guides/budgets-and-rate-limits.md) for each account with this plan.',
  prices: 'USD [prices](prices.md) that replace those in the catalog.',
  'Key.key': "The key's value. Default: a generated one.",
  'Key.account': "The account that it belongs to, by your user's ID.",
  'Combo.models': 'Models, aliases, or other combos, in order: names or [entries](#entries-of-a-combo).',
  'Model.type': 'The [kind](providers.md) of model, such as `llm` or `embedding`.',
  'ComboEntry.model': 'A model, an alias, or another combo.',
  'ComboEntry.weight': 'With the strategy `weighted`: its share of the requests.',
  'ComboEntry.when': 'With `conditional`: [conditions](../guides/conditional-routing.md) that the request must meet.',
  'ComboEntry.where': 'Tags that a connection must have to be used for this entry.',
  'ComboEntry.voices': 'For speech: the voice to use in place of each voice that a client requests.',
  'ComboEntry.params': "Parameters that override the client's, such as `maxTokens`.",
  'ComboEntry.promptCaching': 'Whether the gateway asks this provider to cache prompts.',
}

/** The tables of all sections, as Markdown. */
export function describeConfigFile(): string {
  const { properties, $defs } = createConfigSchema() as {
    properties: Record<string, Schema>
    $defs: Record<string, Schema>
  }
  const records: Record<string, Schema | undefined> = { ...$defs, settings: properties.settings }
  return Object.entries(TITLES)
    .map(([name, title]) => {
      const rows = Object.entries(findFields(records[name])).map(([field, schema]) => [
        `\`${field}\``,
        describeType(schema),
        SHORTER[`${name}.${field}`] ?? SHORTER[field] ?? describe(schema),
      ])
      const heading = title === TITLES.ComboEntry ? title : `\`${title.replace(' and ', '` and `')}\``
      return `## ${heading}\n\n${formatTable(['Field', 'Type', 'Meaning'], rows)}`
    })
    .join('\n\n')
}

const findFields = (schema: Schema | undefined): Record<string, Schema> =>
  schema?.properties ?? schema?.anyOf?.map(findFields).find((fields) => Object.keys(fields).length > 0) ?? {}

function describeType(schema: Schema): string {
  const types = new Set(listTypes(schema))
  types.delete('null') // removes the field
  return [...types].join(' or ')
}

function listTypes({ type, enum: values, anyOf, items, $ref }: Schema): string[] {
  if (values) return ['string']
  if (anyOf) return anyOf.flatMap(listTypes)
  if ($ref) return $ref.endsWith('Variable') ? [] : ['string']
  return [type ?? []]
    .flat()
    .map((one) => (one === 'array' && items ? `list of ${listTypes(items)[0] ?? 'string'}s` : one))
}

/** As many sentences as fit into a row, and the values. */
function describe(schema: Schema): string {
  const sentences = (schema.description ?? '').replace(/\bid(s?)\b(?![`.])/g, 'ID$1').split(/(?<=\.) /)
  const text = sentences.filter((_, nth) => nth === 0 || sentences.slice(0, nth + 1).join(' ').length < 170).join(' ')
  const values = listValues(schema)
  return [
    text,
    values.length > 0 && values.length <= 12 && `Values: ${values.map((value) => `\`${value}\``).join(', ')}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

const listValues = ({ enum: values, anyOf = [], items }: Schema): unknown[] => [
  ...new Set(
    [...(values ?? []), ...anyOf.flatMap(listValues), ...(items ? listValues(items) : [])].filter(
      (value) => value !== null,
    ),
  ),
]
