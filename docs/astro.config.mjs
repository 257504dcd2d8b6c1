import { satteri } from '@astrojs/markdown-satteri'
import starlight from '@astrojs/starlight'
import { defineConfig, passthroughImageService } from 'astro/config'
import { BASE, relativeLinks, SITE } from './links.mjs'
import { llms } from './llms.mjs'
import { SECTIONS } from './pages.mjs'

/** Is this the site of code that isn't released? Its pages must not replace those of the release in search engines. */
const isNext = BASE.endsWith('/next/')

export default defineConfig({
  site: SITE,
  base: BASE,
  trailingSlash: 'always',
  image: { service: passthroughImageService() },
  markdown: { processor: satteri({ hastPlugins: [relativeLinks], features: { smartPunctuation: false } }) },
  integrations: [
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
      sidebar: Object.entries(SECTIONS).map(([directory, label]) => ({
        label,
        collapsed: directory !== 'start' && directory !== 'guides',
        items: [{ autogenerate: { directory } }],
      })),
    }),
    llms,
  ],
})
