import * as v from 'valibot'
import { closedObject, fields } from '../../admin/input.ts'
import type { OperationEntries } from '../../admin/operation-table.ts'
import type { CatalogOperations } from './live-types.ts'

export const acceptInput = closedObject({ models: v.exactOptional(v.array(fields.text, 'must be an array of models')) })

export const catalogTable = {
  review: {
    method: 'GET',
    path: '/api/catalog',
    failure: 'read the catalog',
    summary: 'Get the state of the catalog',
    description: 'Returns the copy of models and prices in use, and the suspicious changes on hold.',
  },
  refresh: {
    method: 'POST',
    path: '/api/catalog/refresh',
    failure: 'refresh the catalog',
    summary: 'Refresh the catalog',
    errors: [502],
  },
  accept: {
    method: 'POST',
    path: '/api/catalog/accept',
    failure: 'accept changes to the catalog',
    input: acceptInput,
    isBodyOptional: true,
    summary: 'Accept changes to the catalog',
    parameters: { models: 'The models whose changes to accept, such as `openai/gpt-5.4`. Default: all changes.' },
  },
  rollback: {
    method: 'POST',
    path: '/api/catalog/rollback',
    failure: 'roll back the catalog',
    summary: 'Return to the previous catalog',
  },
} satisfies OperationEntries<CatalogOperations>
