import { transformSync } from 'esbuild'
import type { Feature } from '../../src/feature.ts'
import { readPages } from '../docs/pages.ts'

interface Examples {
  createCache(maxEntries?: number): Feature
  createWordFilter(word: string): Feature
  hello: Feature
  streamTime(): Response
}

/** Runs the code blocks in docs/src/content/docs/guides/extend-the-gateway.md, and returns the features that they define. */
export async function readExamples(): Promise<Examples> {
  const page = readPages().find(({ path }) => path === 'docs/src/content/docs/guides/extend-the-gateway.md')
  const code = (page?.blocks ?? []).filter(({ language }) => language === 'js').map((block) => block.code)
  const editText = new URL('../../src/features/edit-text/edit-text.ts', import.meta.url).href
  const source = code.join('\n').replaceAll(`'signalbox/edit-text'`, `'${editText}'`)
  const { code: module } = transformSync(source, { format: 'esm' })
  return import(`data:text/javascript,${encodeURIComponent(module)}`)
}
