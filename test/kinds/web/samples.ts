import type { KindSample } from '../samples.ts'

export const search: KindSample = {
  bodies: { search: { query: 'Hi' } },
  path: '/search',
  response: { id: 's', results: [{ title: 'Hi', url: 'https://found.example/', snippet: 'Hi' }] },
}

export const fetch: KindSample = {
  bodies: { fetch: { url: 'https://found.example/' } },
  path: '/web/fetch',
  response: { id: 'f', url: 'https://found.example/', content: { format: 'markdown', text: 'Hi' } },
}
