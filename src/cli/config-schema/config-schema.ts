import type { GenericSchema } from 'valibot'
import { comboModelSchema } from '../../admin/combo-entry.ts'
import { comboInputs } from '../../admin/combos.ts'
import { connectionInputs } from '../../admin/connection-input.ts'
import { groupInputs } from '../../admin/groups.ts'
import { fieldDescriptions } from '../../admin/http/openapi/field-words.ts'
import { keyInputs } from '../../admin/keys.ts'
import { aliasInputs, customModelInputs } from '../../admin/models.ts'
import { createSchema } from '../../admin/schemas.ts'
import { settingsInputs } from '../../admin/settings.ts'
import { guardInputs } from '../../features/guards/operations/guard-operations.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { createJsonSchemaConverter } from '../../lib/json-schema.ts'
import { comboFields } from '../../types/records/combo-fields.ts'
import { guardFields } from '../../types/records/guard-fields.ts'
import { aliasFields } from '../../types/records/model-fields.ts'
import { customId } from '../../types/records/shapes.ts'
import { ENV_PREFIX } from '../cli-options.ts'

/** Creates the config file's JSON Schema from the schemas of the management API's inputs. */
export function createConfigSchema(): JsonObject {
  const findName = (schema: object) => (schema === comboModelSchema ? 'ComboEntry' : undefined)
  const { convert, definitions } = createJsonSchemaConverter({ get: findName }, '#/$defs/')

  /** Returns an input's properties, all of them optional. */
  const convertFields = (schema: GenericSchema, words: string): Record<string, JsonObject> => {
    const fields = convert(schema).properties as Record<string, JsonObject> // each input is an object
    const described = Object.entries(fields).map(([name, field]) => {
      const { [name]: description } = fieldDescriptions[words] ?? {}
      const pattern = patterns[name]
      return [
        name,
        { ...allowVariables({ ...field, ...(pattern && { pattern }) }), ...(description && { description }) },
      ]
    })
    return Object.fromEntries(described)
  }
  const createRecord = (properties: Readonly<Record<string, JsonObject>>, required: readonly string[] = []) => ({
    type: ['object', 'null'],
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  })

  const combo = convertFields(comboInputs.put, 'Combo')
  const alias = convertFields(aliasInputs.set, 'Alias')
  const { id, providerAlias, type: modelType = {}, ...model } = convertFields(customModelInputs.put, 'CustomModel')
  const ids = convert(createSchema(customId))
  const records = {
    Connection: createRecord(convertFields(connectionInputs.put, 'Connection')),
    Combo: { ...combo.models, ...createRecord(combo, ['models']), type: ['object', 'array'] },
    Alias: { ...alias.model, ...createRecord(alias, ['model']), type: ['object', 'string'] },
    ModelType: modelType,
    Model: createRecord({ type: { $ref: '#/$defs/ModelType' }, ...model }),
    Guard: createRecord(convertFields(guardInputs.put, 'Guard')),
    Group: createRecord(convertFields(groupInputs.put, 'KeyGroup')),
    Key: createRecord(convertFields(keyInputs.put, 'ApiKey')),
  }
  const models = createSection({
    names: { pattern: '^[^/]+/.' },
    entry: { anyOf: [createReference('ModelType'), createReference('Model')] },
    item: {
      type: 'object',
      properties: { id, providerAlias, ...records.Model.properties },
      required: ['id', 'providerAlias'],
      additionalProperties: false,
    },
  })
  const groups = createSection({
    names: ids,
    entry: createReference('Group'),
    item: createItem('Group', ['id'], ['name']),
  })
  const sections: Record<string, JsonObject> = {
    settings: {
      ...createRecord(convertFields(settingsInputs.update, 'Settings')),
      description: 'The settings of the gateway.',
    },
    connections: {
      ...createSection({
        names: { ...ids, not: { pattern: `^${ENV_PREFIX}` } },
        entry: createReference('Connection'),
        item: createItem('Connection', ['id'], ['provider']),
      }),
      description: 'Your accounts with providers, by ID. The provider defaults to the ID.',
    },
    combos: {
      ...createSection({
        names: convert(createSchema(comboFields.name.shape)),
        entry: createReference('Combo'),
        item: createItem('Combo', ['name']),
      }),
      description: 'Combos by name: the list of models, or an object with `models`, `strategy`, and more.',
    },
    aliases: {
      ...createSection({
        names: convert(createSchema(aliasFields.alias.shape)),
        entry: createReference('Alias'),
        item: createItem('Alias', ['alias']),
      }),
      description: 'Other names for models: the model that each name points to.',
    },
    models: {
      ...models,
      description: 'Custom models by `<provider>/<model ID>`: the type, or `type` and `prices`.',
    },
    customModels: { ...models, description: 'The former name of `models`.', deprecated: true },
    guards: {
      ...createSection({
        names: convert(createSchema(guardFields.name.shape)),
        entry: createReference('Guard'),
        item: createItem('Guard', ['name']),
      }),
      description: 'Guards by name, which settings, groups, keys, and combos refer to.',
    },
    groups: { ...groups, description: 'Groups of API keys by ID. The name defaults to the ID.' },
    plans: { ...groups, description: 'Plans of accounts by ID. A plan is a group.' },
    keys: {
      ...createSection({
        entry: createReference('Key'),
        item: { anyOf: [{ type: 'string', minLength: 1 }, createItem('Key', ['name'])] },
      }),
      description: 'API keys of clients, by name.',
    },
  }
  const others = Object.entries(definitions).map(([name, schema]) => [name, allowVariables(schema)])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Signalbox configuration',
    description: 'The file for `signalbox --config`. Strings can contain environment variables.',
    type: ['object', 'null'],
    properties: { $schema: { type: 'string' }, ...sections },
    patternProperties: { '^x-': {} },
    additionalProperties: false,
    $defs: { ...records, ...Object.fromEntries(others), Variable: { type: 'string', pattern: VARIABLE_PATTERN } },
  }
}

/** Matches strings with an environment variable. */
const VARIABLE_PATTERN = '\\$\\{[A-Za-z_]\\w*\\}'

/** Patterns for fields with rules in code. */
const patterns: Readonly<Record<string, string>> = {
  baseUrl: '^\\s*(?:[Hh][Tt][Tt][Pp][Ss]?://|$)',
  key: '^sbx_(?!admin_)[\\w-]{32,196}$',
}

const createReference = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` })

/** Creates the schema of a list item: a record that has at least one of these sets of fields. */
const createItem = (name: string, ...required: ReadonlyArray<readonly string[]>): JsonObject => ({
  type: 'object',
  ...createReference(name),
  ...(required.length === 1 ? { required: required[0] } : { anyOf: required.map((fields) => ({ required: fields })) }),
})

/** Creates the schema of a section: a map with `entry` as values, or a list with `item`. */
const createSection = ({ names, entry, item }: { names?: JsonObject; entry: JsonObject; item: JsonObject }) => ({
  type: ['object', 'array', 'null'],
  ...(names && { propertyNames: names }),
  additionalProperties: entry,
  items: item,
})

/** Returns the schema, extended to allow strings with variables in place of strings with a restricted form. */
function allowVariables(schema: JsonObject): JsonObject {
  const inner = Object.entries(schema).map(([name, value]) => {
    if (name === 'propertyNames') return [name, value]
    if (Array.isArray(value))
      return [name, value.map((item: unknown) => (isObject(item) ? allowVariables(item) : item))]
    return [name, isObject(value) ? allowVariables(value) : value]
  })
  const isRestricted = ['pattern', 'enum', 'format'].some(
    (name) => typeof schema[name] === 'string' || Array.isArray(schema[name]),
  )
  const changed: JsonObject = Object.fromEntries(inner)
  return isRestricted ? { anyOf: [changed, createReference('Variable')] } : changed
}
