/** A message from the runner to a worker. */
export type Order = { do: 'run'; path: string } | { do: 'stop' }

/** A message from a worker to the runner. `end` also means that the worker is ready for a file. */
export type Report =
  | { at: 'phase'; title: string; timeoutMs: number }
  | { at: 'passed'; title: string }
  | { at: 'failed'; title: string; text: string }
  | { at: 'skipped'; title: string; reason: string }
  | { at: 'end' }
