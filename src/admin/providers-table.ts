import type { OperationEntries } from './operation-table.ts'
import { type ProviderOperations, providerInputs } from './providers.ts'

export const providerTable = {
  list: {
    method: 'GET',
    path: '/api/providers',
    failure: 'fetch providers',
    summary: 'List the providers',
    description: 'Providers in the catalog, and providers with their own strategy.',
  },
  get: {
    method: 'GET',
    path: '/api/providers/:id',
    failure: 'fetch provider',
    hasRevision: true,
    summary: 'Get a provider',
  },
  update: {
    method: 'PUT',
    path: '/api/providers/:id',
    failure: 'update provider',
    ifMatch: true,
    input: providerInputs.update,
    summary: "Set a provider's connection strategy",
  },
} satisfies OperationEntries<ProviderOperations>
