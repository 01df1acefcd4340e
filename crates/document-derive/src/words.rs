//! Words of enums.

use heck::ToKebabCase;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

/// The words of an enum, and their reader.
pub fn words(input: &DeriveInput) -> Result<TokenStream> {
    let ident = &input.ident;
    let Data::Enum(data) = &input.data else {
        return Err(Error::new_spanned(input, "only an enum has words"));
    };
    if let Some(variant) = data.variants.iter().find(|variant| !variant.fields.is_empty()) {
        return Err(Error::new_spanned(variant, "a word has no data"));
    }
    let variants = data.variants.iter().map(|variant| &variant.ident);
    let words = data.variants.iter().map(|variant| variant.ident.to_string().to_kebab_case());
    Ok(quote! {
        impl ::document::Words for #ident {
            const WORDS: &'static [&'static str] = &[#(#words),*];
            const ALL: &'static [Self] = &[#(#ident::#variants),*];

            fn word(self) -> &'static str {
                Self::WORDS[self as usize]
            }
        }

        impl ::document::Formed for #ident {
            const FORM: ::document::schema::Form =
                ::document::schema::Form::Word(<#ident as ::document::Words>::WORDS);
        }

        impl ::document::Value for #ident {
            fn read(value: &::document::DeValue<'_>) -> ::core::result::Result<Self, String> {
                ::document::word(value)
            }
        }
    })
}
