//! Fields and readers of structs.

use crate::attributes::{FieldAttributes, SectionAttributes, documentation};
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Field, GenericArgument, Ident, PathArguments, Result, Type};

/// A field of a struct, and what is declared of it.
struct Declared<'f> {
    ident: &'f Ident,
    of: &'f Type,
    name: String,
    help: String,
    attributes: FieldAttributes,
}

/// The fields of the struct as the manual shows them.
pub fn schema(input: &DeriveInput) -> Result<TokenStream> {
    let (ident, section) = (&input.ident, SectionAttributes::read(&input.attrs)?);
    let fields = declared(input)?;
    let items = fields.iter().filter(|field| !field.attributes.skip).map(Declared::item);
    let described = section.name.map(|name| {
        let (repeated, help) = (section.repeated, documentation(&input.attrs));
        quote! {
            impl ::document::Described for #ident {
                const SECTION: &'static ::document::schema::Section =
                    &::document::schema::Section {
                        name: #name,
                        repeated: #repeated,
                        help: #help,
                        fields: <#ident as ::document::Fields>::FIELDS,
                    };
            }
        }
    });
    Ok(quote! {
        impl ::document::Fields for #ident {
            const FIELDS: &'static [::document::schema::Item] = &[#(#items),*];
        }
        #described
    })
}

/// Reads every field, so that all mistakes are found, and then makes the struct.
pub fn reader(input: &DeriveInput) -> Result<TokenStream> {
    let (ident, section) = (&input.ident, SectionAttributes::read(&input.attrs)?);
    let fields = declared(input)?;
    let reads = fields.iter().map(|field| {
        let (ident, read) = (field.ident, field.read());
        quote!(let #ident = #read;)
    });
    let values = fields.iter().map(|field| {
        let (ident, value) = (field.ident, field.value());
        quote!(#ident: #value)
    });
    let made = quote!(#ident { #(#values),* });
    let result = match section.check {
        Some(check) => quote!(#check(#made, section)),
        None => quote!(Some(#made)),
    };
    Ok(quote! {
        impl ::document::Read for #ident {
            fn read(section: &::document::Section<'_>) -> Option<Self> {
                #(#reads)*
                #result
            }
        }
    })
}

fn declared(input: &DeriveInput) -> Result<Vec<Declared<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "only a struct has fields"));
    };
    data.fields.iter().map(Declared::new).collect()
}

impl<'f> Declared<'f> {
    fn new(field: &'f Field) -> Result<Declared<'f>> {
        let Some(ident) = &field.ident else {
            return Err(Error::new_spanned(field, "a field needs a name"));
        };
        let attributes = FieldAttributes::read(&field.attrs)?;
        let name = attributes.name.clone().unwrap_or_else(|| ident.unraw().to_string());
        let help = documentation(&field.attrs);
        if help.is_empty() && !attributes.skip && !attributes.flatten {
            return Err(Error::new_spanned(field, "the manual needs its documentation"));
        }
        Ok(Declared { ident, of: &field.ty, name, help, attributes })
    }

    /// The type inside of the `Option` if it may be left out; `None` if it always has a value.
    fn optional(&self) -> Option<&'f Type> {
        let FieldAttributes { default, by, .. } = &self.attributes;
        inside_option(self.of).filter(|_| default.is_none() || by.is_some())
    }

    fn item(&self) -> TokenStream {
        let (of, name, help) = (self.of, &self.name, &self.help);
        let FieldAttributes { default, has_default, required, form, flatten, elsewhere, .. } =
            &self.attributes;
        if *flatten {
            return quote!(::document::schema::Item::Group(<#of as ::document::Fields>::FIELDS));
        }
        let form = form.clone().unwrap_or_else(|| {
            let of = inside_option(of).unwrap_or(of);
            quote!(<#of as ::document::Formed>::FORM)
        });
        let is_optional =
            *has_default || *elsewhere || default.is_some() || self.optional().is_some();
        let required = *required || !is_optional;
        let text = self.attributes.default_text();
        quote! {
            ::document::schema::Item::Field(::document::schema::Field {
                name: #name,
                form: #form,
                default: #text,
                required: #required,
                help: #help,
            })
        }
    }

    /// An expression for the value in the file: `None` if there is none, or none that is valid.
    fn read(&self) -> TokenStream {
        let (of, name) = (self.of, &self.name);
        let FieldAttributes { is_number, with, by, flatten, skip, elsewhere, .. } =
            &self.attributes;
        if *skip || *elsewhere {
            return quote!(<#of as ::core::default::Default>::default());
        }
        if *flatten {
            return quote!(<#of as ::document::Read>::read(section));
        }
        let value = self.optional().unwrap_or(of);
        match (by, with) {
            (Some(by), _) => quote!(#by(section, #name)),
            (None, Some(with)) => quote!(section.get(#name, #with)),
            (None, None) if *is_number => quote!(section.number::<#value>(#name)),
            (None, None) => quote!(section.get(#name, <#value as ::document::Value>::read)),
        }
    }

    /// The field's value, from what [`Declared::read`] gave.
    fn value(&self) -> TokenStream {
        let (ident, attributes) = (self.ident, &self.attributes);
        match () {
            () if attributes.skip || attributes.elsewhere => quote!(#ident),
            () if self.optional().is_some() => quote!(#ident),
            () if attributes.has_default => quote!(#ident.unwrap_or_default()),
            () => quote!(#ident?),
        }
    }
}

/// The type inside of an `Option`.
fn inside_option(of: &Type) -> Option<&Type> {
    let path = match of {
        Type::Path(path) => path,
        // A type that a macro of rules passed on.
        Type::Group(group) => return inside_option(&group.elem),
        _ => return None,
    };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inside) => Some(inside),
        _ => None,
    }
}
