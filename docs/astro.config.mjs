import { satteri } from '@astrojs/markdown-satteri'
import starlight from '@astrojs/starlight'
import { defineConfig, passthroughImageService } from 'astro/config'
import starlightOpenAPI, { openAPISidebarGroups } from 'starlight-openapi'
import starlightTypeDoc from 'starlight-typedoc'
import { BASE, relativeLinks, SITE } from './links.mjs'
import { llms } from './llms.mjs'
import { readSitePages, SECTIONS } from './pages.mjs'
import { pictures } from './pictures.mjs'
import { REDIRECTS } from './redirects.mjs'
import { search } from './search.mjs'

/** Is this the site of code that isn't released? Its pages must not replace those of the release in search engines. */
const isNext = BASE.endsWith('/next/')

/** The pages of a section, and below them those of each folder in it. Starlight would put the folders first and name them as they are in the file system. */
function listPages(section) {
  const pages = readSitePages().filter((page) => page.section === section)
  const folders = new Set(pages.flatMap(({ name }) => name.split('/').slice(1, -1)))
  return [
    ...pages.flatMap(({ name }) => (name.split('/').length === 2 ? [{ slug: name.replace('.md', '') }] : [])),
    ...[...folders].map((folder) => ({
      label: `${folder[0].toUpperCase()}${folder.slice(1)}`,
      collapsed: true,
      items: [{ autogenerate: { directory: `${section}/${folder}` } }],
    })),
  ]
}

/** The group of pages that TypeDoc writes. */
const TYPES = { label: 'TypeScript API', collapsed: true, items: [{ autogenerate: { directory: 'typescript' } }] }

export default defineConfig({
  site: SITE,
  base: BASE,
  trailingSlash: 'always',
  redirects: REDIRECTS,
  image: { service: passthroughImageService() },
  markdown: { processor: satteri({ hastPlugins: [relativeLinks], features: { smartPunctuation: false } }) },
  integrations: [
    search,
    pictures,
    starlight({
      title: 'Signalbox',
      logo: { src: './public/favicon.svg' },
      customCss: ['./src/styles/site.css'],
      editLink: { baseUrl: 'https://github.com/signalbox-dev/signalbox/edit/main/docs/' },
      social: [{ icon: 'github', label: 'GitHub', href: 'https://github.com/signalbox-dev/signalbox' }],
      ...(isNext && {
        head: [{ tag: 'meta', attrs: { name: 'robots', content: 'noindex' } }],
        routeMiddleware: './src/unreleased.mjs',
      }),
      plugins: [
        starlightTypeDoc({
          entryPoints: ['.generated/entries/**/*.ts'],
          tsconfig: '.generated/entries/tsconfig.json',
          output: 'typescript',
          typeDoc: {
            outputFileStrategy: 'modules',
            useHTMLAnchors: true,
            skipErrorChecking: true,
            excludeInternal: true,
            disableSources: true,
            name: 'TypeScript API',
            readme: 'none',
            parametersFormat: 'table',
            interfacePropertiesFormat: 'table',
            typeAliasPropertiesFormat: 'table',
            typeDeclarationFormat: 'table',
            logLevel: 'Error',
          },
        }),
        starlightOpenAPI([
          {
            base: 'reference/api',
            schema: './.generated/openapi.json',
            sidebar: { label: 'HTTP API', operations: { labels: 'path', badges: true } },
          },
        ]),
      ],
      sidebar: Object.entries(SECTIONS).map(([directory, label]) => ({
        label,
        collapsed: directory !== 'start' && directory !== 'guides',
        items: [...listPages(directory), ...(directory === 'reference' ? [...openAPISidebarGroups, TYPES] : [])],
      })),
    }),
    llms,
  ],
})
