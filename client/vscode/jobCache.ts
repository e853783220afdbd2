export interface JobCache { readonly cursor: number }
