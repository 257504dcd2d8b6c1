import * as v from 'valibot'
import { aliasFields, customModelFields } from '../types/records/model-fields.ts'
import { kinds } from '../types/unions.ts'
import { choiceOf } from './input.ts'
import { type AliasOperations, aliasInputs, type CustomModelOperations, customModelInputs } from './models.ts'
import { type OperationEntries, omittedStay } from './operation-table.ts'
import { listParameters, named, shownSchema, success, text, warnings, whole } from './output-schemas.ts'
import { price } from './price-schema.ts'
import { type ModelOperations, modelInputs } from './published-models.ts'

const publishedModel = v.object({
  id: text,
  object: v.literal('model'),
  created: whole,
  owned_by: text,
  kind: v.exactOptional(choiceOf(kinds)),
  price: v.exactOptional(price),
  priceSource: v.exactOptional(v.picklist(['connection', 'customModel', 'catalog'])),
  contextWindow: v.exactOptional(whole),
  maxOutput: v.exactOptional(whole),
})

export const modelTable = {
  published: {
    method: 'GET',
    path: '/api/models',
    failure: 'list models',
    input: modelInputs.published,
    output: v.object({ object: v.literal('list'), data: v.array(publishedModel), after: v.exactOptional(text) }),
    summary: 'List the models that clients can request',
    description:
      'The models of `GET /v1/models`, without an API key. With a query: models of any kind, each with its kind and, if known, its price and size. If the response has `after`, there are more.',
    parameters: {
      ...listParameters,
      kinds: 'Kinds of models, comma-separated, or `all`. Default `llm`.',
      details: 'Includes details of each model, as does any other parameter.',
    },
  },
} satisfies OperationEntries<ModelOperations>

const customModel = named('CustomModel', shownSchema(customModelFields))
const changedCustomModel = shownSchema(customModelFields, warnings)

export const customModelTable = {
  list: {
    method: 'GET',
    path: '/api/models/custom',
    failure: 'fetch custom models',
    output: v.object({ models: v.array(customModel) }),
    summary: 'List the custom models',
  },
  create: {
    method: 'POST',
    path: '/api/models/custom',
    failure: 'create custom model',
    status: 201,
    input: customModelInputs.create,
    output: changedCustomModel,
    summary: 'Create a custom model',
    description: 'Adds a model that is not in the catalog.',
  },
  delete: {
    method: 'DELETE',
    path: '/api/models/custom/:providerAlias/:id+',
    failure: 'delete custom model',
    ifMatch: true,
    output: success,
    summary: 'Delete a custom model',
  },
  put: {
    method: 'PUT',
    path: '/api/models/custom',
    failure: 'put custom model',
    ifMatch: true,
    input: customModelInputs.put,
    output: changedCustomModel,
    summary: 'Create or change a custom model',
    description: omittedStay,
  },
} satisfies OperationEntries<CustomModelOperations>

export const aliasTable = {
  list: {
    method: 'GET',
    path: '/api/models/aliases',
    failure: 'fetch aliases',
    output: v.object({ aliases: v.record(text, text) }),
    summary: 'List the aliases',
    description: 'Model names by alias.',
  },
  set: {
    method: 'PUT',
    path: '/api/models/aliases',
    failure: 'set alias',
    ifMatch: true,
    input: aliasInputs.set,
    output: shownSchema(aliasFields, warnings),
    summary: 'Create or change an alias',
    description: 'It must not resolve to itself.',
  },
  delete: {
    method: 'DELETE',
    path: '/api/models/aliases/:alias+',
    failure: 'delete alias',
    ifMatch: true,
    output: success,
    summary: 'Delete an alias',
  },
} satisfies OperationEntries<AliasOperations>
