import { readFileSync } from 'node:fs'

/** The version in package.json, which lies one folder above the built command and two above its source. */
export function readVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    const manifest = tryRead(new URL(path, import.meta.url))
    if (manifest?.name === 'signalbox') return String(manifest.version)
  }
  return 'unknown'
}

function tryRead(url: URL): { name?: unknown; version?: unknown } | undefined {
  try {
    return JSON.parse(readFileSync(url, 'utf8')) as object // a manifest is an object
  } catch {
    return undefined
  }
}
