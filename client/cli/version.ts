/** The product's version, put in by the build. */
declare const LANEWAY_VERSION: string | undefined;

export const VERSION: string = typeof LANEWAY_VERSION === 'string' ? LANEWAY_VERSION : '0.0.0-source';
