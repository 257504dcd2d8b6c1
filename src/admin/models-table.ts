import { type AliasOperations, aliasInputs, type CustomModelOperations, customModelInputs } from './models.ts'
import { listParameters, type OperationEntries, omittedFieldsNote } from './operation-table.ts'
import { type ModelOperations, modelInputs } from './published-models.ts'

export const modelTable = {
  published: {
    method: 'GET',
    path: '/api/models',
    failure: 'list models',
    input: modelInputs.published,
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

export const customModelTable = {
  list: {
    method: 'GET',
    path: '/api/models/custom',
    failure: 'fetch custom models',
    summary: 'List the custom models',
  },
  create: {
    method: 'POST',
    path: '/api/models/custom',
    failure: 'create custom model',
    status: 201,
    input: customModelInputs.create,
    summary: 'Create a custom model',
    description: 'Adds a model that is not in the catalog.',
  },
  delete: {
    method: 'DELETE',
    path: '/api/models/custom/:providerAlias/:id+',
    failure: 'delete custom model',
    ifMatch: true,
    summary: 'Delete a custom model',
  },
  put: {
    method: 'PUT',
    path: '/api/models/custom',
    failure: 'put custom model',
    ifMatch: true,
    input: customModelInputs.put,
    summary: 'Create or change a custom model',
    description: omittedFieldsNote,
  },
} satisfies OperationEntries<CustomModelOperations>

export const aliasTable = {
  list: {
    method: 'GET',
    path: '/api/models/aliases',
    failure: 'fetch aliases',
    summary: 'List the aliases',
    description: 'Model names by alias.',
  },
  set: {
    method: 'PUT',
    path: '/api/models/aliases',
    failure: 'set alias',
    ifMatch: true,
    input: aliasInputs.set,
    summary: 'Create or change an alias',
    description: 'It must not resolve to itself.',
  },
  delete: {
    method: 'DELETE',
    path: '/api/models/aliases/:alias+',
    failure: 'delete alias',
    ifMatch: true,
    summary: 'Delete an alias',
  },
} satisfies OperationEntries<AliasOperations>
