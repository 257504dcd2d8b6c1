/** What the runner tells a worker. */
export type Order = { do: 'run'; path: string } | { do: 'stop' }

/** What a worker tells the runner. `end` also means: ready for a file. */
export type Report =
  | { at: 'phase'; title: string; timeoutMs: number }
  | { at: 'passed'; title: string }
  | { at: 'failed'; title: string; text: string }
  | { at: 'skipped'; title: string; reason: string }
  | { at: 'end' }
