/** The stores for each runtime, for the table in docs/src/content/docs/reference/storage.md and the conformance tests. */

/** The test that covers each runtime's stores. */
export const RUNTIMES = {
  'Node 20': 'test/services/stores/node-20.test.ts',
  'Node 22': 'test/services/stores/node-22.test.ts',
  'Node 24': 'test/services/stores/node-24.test.ts',
  Bun: 'test/services/stores/bun.test.ts',
  Deno: 'test/services/stores/deno.test.ts',
  workerd: 'test/services/stores/workerd.test.ts',
  Chromium: 'test/runtimes/indexeddb.test.ts',
} as const

export type Runtime = keyof typeof RUNTIMES

export interface StoreRow {
  /** The store's section on that page, or on the page about serverless stores. */
  section: string
  /** What opens the store in each runtime. */
  cells: Partial<Record<Runtime, string>>
  promises: string
}

/** Returns the same cell for every runtime. */
const inEveryRuntime = (cell: string, ...extra: Runtime[]) => {
  const runtimes: Runtime[] = ['Node 20', 'Node 22', 'Node 24', 'Bun', 'Deno', ...extra]
  return Object.fromEntries(runtimes.map((runtime) => [runtime, cell]))
}

/** The stores, by the name of their entry point `signalbox/storage/…`. */
export const STORES: Record<string, StoreRow> = {
  memory: {
    section: '#choose-a-store',
    cells: inEveryRuntime('memory', 'workerd', 'Chromium'),
    promises: 'atomic within one process, keeps nothing',
  },
  file: {
    section: '#file',
    cells: { 'Node 22': 'file', 'Node 24': 'file', Bun: 'file', Deno: 'file' },
    promises: 'atomic on one machine, on disk before a write resolves; relaxed writes soon after',
  },
  sqlite: {
    section: '#sqlite',
    cells: {
      'Node 20': 'libSQL',
      'Node 22': 'node:sqlite',
      'Node 24': 'node:sqlite',
      Bun: 'bun:sqlite',
      Deno: 'node:sqlite',
      workerd: 'D1',
    },
    promises: 'atomic, on disk before a write resolves; D1 and libSQL are reread every second',
  },
  redis: {
    section: '#redis',
    cells: inEveryRuntime('redis'),
    promises: 'atomic, reports changes, as durable as `appendfsync` says',
  },
  upstash: {
    section: 'serverless-stores.md#upstash',
    cells: inEveryRuntime('upstash', 'workerd'),
    promises: 'atomic, as durable as the database, reread every second',
  },
  postgres: {
    section: '#postgres',
    cells: inEveryRuntime('postgres'),
    promises: 'atomic, reports changes, committed before a write resolves',
  },
  'deno-kv': {
    section: '#deno-kv',
    cells: { Deno: 'deno-kv' },
    promises: 'atomic, reports changes, values up to 65 kB',
  },
  unstorage: {
    section: '#unstorage',
    cells: inEveryRuntime('unstorage'),
    promises: 'not atomic, as durable as its driver, reread every second',
  },
  'durable-object': {
    section: 'serverless-stores.md#workers-a-durable-object',
    cells: { workerd: 'durable-object' },
    promises: 'atomic, stored before a write resolves, reread every second',
  },
  kv: {
    section: 'serverless-stores.md#workers-kv',
    cells: { workerd: 'kv' },
    promises: 'not atomic, a minute or more late elsewhere, one write a second for a key',
  },
  indexeddb: {
    section: '#indexeddb',
    cells: { Chromium: 'indexeddb' },
    promises: 'atomic within a site, reports changes, on disk before a write resolves',
  },
}

/** Lists the ways to open stores in a runtime. */
export const listStores = (runtime: Runtime): string[] =>
  Object.values(STORES).flatMap(({ cells }) => cells[runtime] ?? [])

/** Returns the table in Markdown. */
export function matrixTable(): string {
  const runtimes = Object.keys(RUNTIMES) as Runtime[] // in the order above
  const rows = Object.entries(STORES).map(([name, { section, cells, promises }]) => [
    `[${name}](${section})`,
    ...runtimes.map((runtime) => (cells[runtime] === name ? 'yes' : (cells[runtime] ?? ''))),
    promises,
  ])
  const table = [['Store', ...runtimes, 'What it promises'], ...rows]
  const widths = table[0]?.map((_, index) => Math.max(...table.map((row) => row[index]?.length ?? 0))) ?? []
  const line = (row: string[]) => `| ${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = table
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}
